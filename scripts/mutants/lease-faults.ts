/** Faults in which lease may write. */
import { storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/${path}`
const transition = src('runs/transition-statement.ts')
const finish = src('runs/finish.ts')
const claim = src('runs/claim.ts')
const guard = 'db/migrations/0013-leaner-guard.sql'

export const leaseFaults: readonly Fault[] = [
  {
    name: 'settle-without-fence',
    why: 'A zombie ends, snoozes or releases the run of the next holder.',
    caughtBy: [storeTest('settle')],
    edits: [
      {
        file: transition,
        find: 'ON r.id = given.id AND r.fence = coalesce(given.fence, r.fence)',
        replace: 'ON r.id = given.id',
      },
      { file: finish, find: 'r.fence = g.fence AND ', replace: '' },
    ],
  },
  {
    name: 'finish-without-state',
    why: 'A holder can end a run that was only prefetched, or that has ended.',
    caughtBy: [storeTest('work-exchange')],
    edits: [
      { file: finish, find: " AND r.status = 'RUNNING'", replace: '' },
      {
        file: guard,
        find: "'{PENDING,AVAILABLE,RUNNING,CANCELLED,EXPIRED}'",
        replace: "'{PENDING,AVAILABLE,RUNNING,SUCCEEDED,CANCELLED,EXPIRED}'",
      },
    ],
  },
  {
    name: 'start-without-fence',
    why: 'A zombie starts a run that another replica has claimed.',
    caughtBy: [storeTest('work-exchange')],
    edits: [{ file: src('runs/start.ts'), find: ' AND r.fence = g.fence', replace: '' }],
  },
  {
    name: 'beat-without-fence',
    why: 'A zombie’s heartbeats are accepted and keep a dead run from being recovered.',
    caughtBy: [storeTest('beats')],
    edits: [
      {
        file: src('heartbeats/beat-runs.ts'),
        find: "r.fence <> given.fence OR r.status IN ('PENDING', 'AVAILABLE')",
        replace: "r.status IN ('PENDING', 'AVAILABLE')",
      },
    ],
  },
  {
    name: 'checkpoint-without-fence',
    why: 'A zombie overwrites what the next attempt continues from.',
    caughtBy: [storeTest('retries')],
    edits: [{ file: src('runs/checkpoint.ts'), find: ".where('fence', '=', lease.fence)", replace: '' }],
  },
  {
    name: 'reap-without-second-look',
    why: 'A beat between look and act does not save the run.',
    caughtBy: [storeTest('reap')],
    edits: [{ file: src('liveness/recover.ts'), find: '{ onlyIf: stillStale }', replace: '{}' }],
  },
  {
    name: 'reaped-end-keeps-fence',
    why: 'The reaped holder’s outcome is reported as accepted.',
    caughtBy: [storeTest('reap')],
    edits: [{ file: src('liveness/recover.ts'), find: 'revoke: true, ', replace: '' }],
  },
  {
    name: 'earlier-beats-count',
    why: 'A heartbeat of an earlier claim hides that this claim has none.',
    caughtBy: [storeTest('reap')],
    edits: [{ file: src('liveness/stale.ts'), find: ' AND beat.fence = r.fence', replace: '' }],
  },
  {
    name: 'beats-survive-their-claim',
    why: 'Heartbeat rows of runs without a holder accumulate.',
    caughtBy: [storeTest('beats')],
    edits: [
      {
        file: transition,
        find: 'DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM changed))',
        replace: 'DELETE FROM q.task_heartbeat WHERE run_id < 0',
      },
    ],
  },
  {
    name: 'foreign-threshold',
    why: 'A slow replica is reaped by the threshold of another one.',
    caughtBy: [storeTest('reap')],
    edits: [
      {
        file: src('liveness/stale.ts'),
        find: 'coalesce(holders.replica_stale_ms, ${staleMsUnregistered})',
        replace: 'coalesce(${staleMsUnregistered}, holders.replica_stale_ms)',
      },
    ],
  },
  {
    name: 'attempt-as-fence',
    why: 'An attempt number that was returned is used again, and the old lease becomes valid.',
    caughtBy: [storeTest('settle')],
    edits: [{ file: claim, find: 'fence = r.fence + 1, replica_id', replace: 'fence = r.attempt + 1, replica_id' }],
  },
  {
    name: 'given-back-keeps-fence',
    why: 'A replica that released or snoozed a run can still write to it.',
    caughtBy: [storeTest('settle')],
    edits: [
      {
        file: transition,
        find: "CASE WHEN locked.next IN ('AVAILABLE', 'PENDING') OR locked.was = 'CLAIMED' OR locked.revoke THEN 1",
        replace: 'CASE WHEN locked.revoke THEN 1',
      },
    ],
  },
]
