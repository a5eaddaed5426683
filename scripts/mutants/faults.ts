/** THE faults that the tests of the store must find. Each is a small change somebody could make and call an improvement. */

import { enqueueFaults } from './enqueue-faults.ts'
import { livenessFaults } from './liveness-faults.ts'
import { orderFaults } from './order-faults.ts'
import { workflowFaults } from './workflow-faults.ts'

export interface Edit {
  /** From the root of the workspace. */
  readonly file: string
  /** Occurs exactly once in it. */
  readonly find: string
  readonly replace: string
}

export interface Fault {
  readonly name: string
  /** What goes wrong with it, and so why a test must be red. */
  readonly why: string
  readonly edits: readonly Edit[]
}

const src = (path: string) => `packages/store/src/${path}`
const leave = src('runs/leave-statement.ts')
const finish = src('runs/finish.ts')
const claim = src('runs/claim.ts')
const migration = 'db/migrations/0001-task-runs.sql'
const guard = 'db/migrations/0009-keys-and-times.sql'

export const faults: readonly Fault[] = [
  {
    name: 'settle-without-fence',
    why: 'A zombie ends, snoozes or releases the run of the next holder.',
    edits: [
      {
        file: leave,
        find: 'ON r.id = given.id AND r.fence = coalesce(given.fence, r.fence)',
        replace: 'ON r.id = given.id',
      },
      { file: finish, find: 'r.fence = g.fence AND ', replace: '' },
    ],
  },
  {
    name: 'finish-without-state',
    why: 'A run that was claimed ahead, or has ended, is ended by whoever has its fence.',
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
    why: 'A zombie starts a run that somebody else has claimed.',
    edits: [{ file: src('runs/start.ts'), find: ' AND r.fence = g.fence', replace: '' }],
  },
  {
    name: 'beat-without-fence',
    why: 'A zombie is told that it is alive, and its beats keep a dead run from being recovered.',
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
    edits: [{ file: src('runs/checkpoint.ts'), find: ".where('fence', '=', lease.fence)", replace: '' }],
  },
  {
    name: 'reap-without-second-look',
    why: 'A beat between look and act does not save the run.',
    edits: [{ file: src('liveness/recover.ts'), find: '{ onlyIf: stillStale }', replace: '{}' }],
  },
  {
    name: 'reaped-end-keeps-fence',
    why: 'The reaped holder is told that its outcome was accepted.',
    edits: [{ file: src('liveness/recover.ts'), find: 'revoke: true, ', replace: '' }],
  },
  {
    name: 'earlier-beats-count',
    why: 'A beat of an earlier claim hides that nobody beats for this one.',
    edits: [{ file: src('liveness/stale.ts'), find: ' AND beat.fence = r.fence', replace: '' }],
  },
  {
    name: 'beats-survive-their-claim',
    why: 'Rows of beats for runs that nobody holds pile up.',
    edits: [
      {
        file: leave,
        find: 'DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM gone))',
        replace: 'DELETE FROM q.task_heartbeat WHERE run_id < 0',
      },
    ],
  },
  {
    name: 'foreign-threshold',
    why: 'A slow replica is reaped by somebody else’s threshold.',
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
    why: 'An attempt that was given back comes again, and with it the old lease.',
    edits: [{ file: claim, find: 'fence = r.fence + 1, replica_id', replace: 'fence = r.attempt + 1, replica_id' }],
  },
  {
    name: 'given-back-keeps-fence',
    why: 'Whoever released or snoozed a run can still write to it.',
    edits: [
      {
        file: leave,
        find: "CASE WHEN locked.next IN ('AVAILABLE', 'PENDING') OR locked.was = 'CLAIMED' OR locked.revoke THEN 1",
        replace: 'CASE WHEN locked.revoke THEN 1',
      },
    ],
  },
  {
    name: 'claim-what-is-held',
    why: 'A run is claimed while another replica executes it.',
    edits: [{ file: claim, find: '${isReady} AND r.lane = quota.lane', replace: 'r.lane = quota.lane' }],
  },
  {
    name: 'claim-waits',
    why: 'A row that a user’s transaction has locked stops all claims.',
    edits: [{ file: claim, find: 'FOR NO KEY UPDATE SKIP LOCKED) locked', replace: 'FOR NO KEY UPDATE) locked' }],
  },
  {
    name: 'claim-beyond-limit',
    why: 'A replica holds more runs than it has slots.',
    edits: [{ file: claim, find: 'LIMIT quota.runs FOR NO KEY', replace: 'FOR NO KEY' }],
  },
  {
    name: 'claim-of-paused-queue',
    why: 'Pausing a queue stops nothing.',
    edits: [
      { file: claim, find: ' AND NOT ${isPaused}', replace: '' },
      { file: src('runs/ready-heads.ts'), find: ' AND NOT ${isPaused}', replace: '' },
    ],
  },
  {
    name: 'claim-after-deadline',
    why: 'A run starts after the time until which it made sense.',
    edits: [{ file: claim, find: 'quota.grp AND ${isInTime}', replace: 'quota.grp' }],
  },
  {
    name: 'running-runs-expire',
    why: 'A run that started in time is ended under its holder.',
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
    edits: [
      { file: src('runs/retry.ts'), find: 'epoch = r.epoch + 1, ', replace: '' },
      { file: guard, find: "ELSE '{}'::q.task_status[]", replace: "ELSE '{PENDING,AVAILABLE}'::q.task_status[]" },
    ],
  },
  {
    name: 'promotion-ignores-occupied-slots',
    why: 'More runs of one key are live than its limit.',
    edits: [
      {
        file: src('runs/claimable.ts'),
        find: ' WHERE slot <> ALL(room.taken)',
        replace: '',
      },
      { file: src('runs/claimable.ts'), find: 'room.slots - cardinality(room.taken)', replace: 'room.slots' },
      { file: migration, find: 'CREATE UNIQUE INDEX task_run_slot', replace: 'CREATE INDEX task_run_slot' },
    ],
  },
  {
    name: 'slot-not-freed',
    why: 'A key is occupied for ever by a run that ended.',
    edits: [
      {
        file: leave,
        find: "concurrency_slot = CASE WHEN locked.next = 'AVAILABLE' THEN r.concurrency_slot END",
        replace: 'concurrency_slot = r.concurrency_slot',
      },
      {
        file: migration,
        find: '  CONSTRAINT live_key_has_a_slot CHECK (\n    (concurrency_slot IS NOT NULL) = (concurrency_key',
        replace: '  CHECK (\n    (concurrency_slot IS NOT NULL) >= (concurrency_key',
      },
    ],
  },
  {
    name: 'slot-not-handed-on',
    why: 'The next run of the key waits for a sweep instead of following at once.',
    edits: [
      { file: leave, find: "g.status <> 'AVAILABLE' AND g.", replace: "g.status <> 'AVAILABLE' AND false AND g." },
      { file: leave, find: 'CASE WHEN e.slot IS NOT NULL THEN e.key END', replace: 'NULL' },
    ],
  },
  {
    name: 'lowered-limit-handed-on',
    why: 'After a limit was lowered one holder too many stays while runs follow each other.',
    edits: [
      {
        file: leave,
        find: 'AND NOT EXISTS (\n      SELECT FROM q.task_run h',
        replace:
          'AND NOT EXISTS (\n      SELECT FROM q.task_run h WHERE false) AND NOT EXISTS (\n      SELECT FROM (SELECT * FROM q.task_run WHERE false) h',
      },
    ],
  },
  {
    name: 'unique-conflict-ignored',
    why: 'Two live runs have one unique key.',
    edits: [{ file: migration, find: 'CREATE UNIQUE INDEX task_run_unique', replace: 'CREATE INDEX task_run_unique' }],
  },
  {
    name: 'crash-not-counted',
    why: 'A run that kills its replicas is started for ever.',
    edits: [
      {
        file: leave,
        find: 'r.crash_count + CASE WHEN locked.crashed THEN 1 ELSE 0 END',
        replace: 'r.crash_count',
      },
    ],
  },
  {
    name: 'crashes-without-end',
    why: 'The same, by forgetting the limit.',
    edits: [{ file: leave, find: ' AND r.crash_count < ${crashesMax}', replace: '' }],
  },
  {
    name: 'on-crash-skips-task',
    why: 'A task that declares fail is started again after the death of a replica whose default is retry.',
    edits: [{ file: src('runs/on-crash.ts'), find: 'WHERE task.name = r.task', replace: 'WHERE false' }],
  },
  {
    name: 'snooze-counts-as-attempt',
    why: 'A run that only waits for something runs out of attempts.',
    edits: [{ file: src('runs/snooze.ts'), find: ', giveBack: true', replace: '' }],
  },
  {
    name: 'cancel-looks-once',
    why: 'A cancel that meets a run on its way back is lost, and whoever asked is told that the run has ended.',
    edits: [
      {
        file: src('runs/cancel.ts'),
        find: "if (answer === 'moved' || answer === 'step') moved.push(id)",
        replace: "if (answer === 'moved' || answer === 'step') answers.set(id, 'already-ended')",
      },
    ],
  },
  ...enqueueFaults,
  ...livenessFaults,
  ...orderFaults,
  ...workflowFaults,
]
