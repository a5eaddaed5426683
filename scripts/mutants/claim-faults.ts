/** Faults in which runs a replica may claim, and in which epoch. */
import { storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/${path}`
const claim = src('runs/claim.ts')
const migration = 'db/migrations/0001-task-runs.sql'
const guard = 'db/migrations/0013-leaner-guard.sql'

export const claimFaults: readonly Fault[] = [
  {
    name: 'claimer-never-looks-at-a-backlog',
    why: 'As long as a backlog lasts, an urgent run waits behind it.',
    caughtBy: [storeTest('claim-candidates')],
    edits: [
      {
        file: src('runs/claimer.ts'),
        find: 'candidates.length === 0 || changesSeen < changes || cursors.expired',
        replace: 'candidates.length === 0',
      },
    ],
  },
  {
    name: 'late-answer-hides-a-head',
    why: 'An old answer of the second connection hides runs that a later look has shown.',
    caughtBy: [storeTest('claim-candidates')],
    edits: [
      {
        file: src('runs/claimer.ts'),
        find: 'if (candidates === candidatesAsked)',
        replace: 'if (true)',
      },
    ],
  },
  {
    name: 'cursor-never-reset',
    why: 'A run that becomes ready before the cursor waits until the backlog is gone.',
    caughtBy: [storeTest('claim-cursors')],
    edits: [
      {
        file: src('runs/claimer.ts'),
        find: 'cursors.looked(rows), answers',
        replace:
          'cursors.looked(rows).map((each) => candidates.find((known) => candidateKey(known) === candidateKey(each)) ?? each), answers',
      },
    ],
  },
  {
    name: 'cursor-never-expires',
    why: 'As long as a backlog lasts, a run that became ready before the cursor waits for a wake.',
    caughtBy: [storeTest('claim-cursors')],
    edits: [{ file: src('runs/claim-cursors.ts'), find: 'return nowMs() >= expiresMs', replace: 'return false' }],
  },
  {
    name: 'cursor-skips-a-run',
    why: 'The oldest run waits until the backlog is gone.',
    caughtBy: [storeTest('claim-cursors')],
    edits: [{ file: claim, find: '(r.run_at, r.id) >= (quota', replace: '(r.run_at, r.id) > (quota' }],
  },
  {
    name: 'short-claim-from-a-cursor-exhausts',
    why: 'A run that became ready before the cursor waits for the next poll of an idle replica.',
    caughtBy: [storeTest('claim-cursors')],
    edits: [
      {
        file: src('runs/claimer.ts'),
        find: 'return quota.from === undefined ? [] : withoutCursor(candidate)',
        replace: 'return []',
      },
    ],
  },
  {
    name: 'cursor-stays-behind',
    why: 'Each claim reads the entries of all runs that were claimed since the last look.',
    caughtBy: [storeTest('claim-cursors')],
    edits: [
      {
        file: src('runs/claimer.ts'),
        find: 'return from === undefined ? candidate : { ...candidate, from }',
        replace: 'return candidate',
      },
    ],
  },
  {
    name: 'guard-passes-any-fence',
    why: 'A run succeeds under a fence that no claim gave.',
    caughtBy: ['packages/schema/test/guard.test.ts'],
    edits: [
      {
        file: guard,
        find: ' AND NEW.fence = OLD.fence AND NEW.attempt = OLD.attempt\n',
        replace: ' AND NEW.attempt = OLD.attempt\n',
      },
    ],
  },
  {
    name: 'claim-what-is-held',
    why: 'A run is claimed while another replica executes it.',
    caughtBy: [storeTest('claim')],
    edits: [{ file: claim, find: '${isReady} AND r.lane = quota.lane', replace: 'r.lane = quota.lane' }],
  },
  {
    name: 'claim-waits',
    why: 'A row that a user’s transaction has locked stops all claims.',
    caughtBy: [storeTest('claim')],
    edits: [{ file: claim, find: 'FOR NO KEY UPDATE SKIP LOCKED) locked', replace: 'FOR NO KEY UPDATE) locked' }],
  },
  {
    name: 'claim-beyond-limit',
    why: 'A replica holds more runs than it has slots.',
    caughtBy: [storeTest('claim')],
    edits: [{ file: claim, find: 'LIMIT quota.runs FOR NO KEY', replace: 'FOR NO KEY' }],
  },
  {
    name: 'claim-of-paused-queue',
    why: 'Pausing a queue stops nothing.',
    caughtBy: [storeTest('gates')],
    edits: [
      { file: claim, find: ' AND NOT ${isPaused}', replace: '' },
      { file: src('runs/claim-candidates.ts'), find: ' AND NOT ${isPaused}', replace: '' },
    ],
  },
  {
    name: 'claim-after-deadline',
    why: 'A run starts after the time until which it made sense.',
    caughtBy: [storeTest('retries')],
    edits: [{ file: claim, find: 'quota.from_id) AND ${isInTime}', replace: 'quota.from_id)' }],
  },
  {
    name: 'running-runs-expire',
    why: 'A run that started in time is ended under its holder.',
    caughtBy: [storeTest('retries')],
    edits: [
      {
        file: src('runs/expire.ts'),
        find: "['PENDING', 'AVAILABLE', 'CLAIMED']",
        replace: "['PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING']",
      },
      {
        file: migration,
        find: "CASE WHEN status IN ('PENDING', 'AVAILABLE', 'CLAIMED') THEN expires_at END",
        replace: "CASE WHEN status IN ('PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING') THEN expires_at END",
      },
      {
        file: guard,
        find: "'{PENDING,AVAILABLE,SUCCEEDED,FAILED,CANCELLED}'",
        replace: "'{PENDING,AVAILABLE,SUCCEEDED,FAILED,CANCELLED,EXPIRED}'",
      },
    ],
  },
  {
    name: 'retry-in-the-same-epoch',
    why: 'The idempotency key of the second life is that of the first.',
    caughtBy: [storeTest('retries')],
    edits: [
      { file: src('runs/retry.ts'), find: 'epoch = r.epoch + 1, ', replace: '' },
      { file: guard, find: "ELSE '{}'::q.task_status[]", replace: "ELSE '{PENDING,AVAILABLE}'::q.task_status[]" },
    ],
  },
]
