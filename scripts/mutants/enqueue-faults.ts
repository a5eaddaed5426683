/** Faults in how runs come to be, and in what their code writes. */
import { storeModel, storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/${path}`

export const enqueueFaults: readonly Fault[] = [
  {
    name: 'every-commit-notifies',
    why: 'Commits of producers wait for each other although no replica is idle.',
    caughtBy: ['packages/client/test/enqueue-cost.test.ts'],
    edits: [
      {
        file: src('runs/ready-wakes.ts'),
        find: 'WHERE EXISTS (SELECT FROM q.idle) AND lane.id',
        replace: 'WHERE lane.id',
      },
    ],
  },
  {
    name: 'trigger-for-each-row',
    why: 'A batch calls the trigger that wakes once for each of its rows.',
    caughtBy: ['packages/client/test/enqueue-cost.test.ts'],
    edits: [
      {
        file: src('runs/enqueue-statement.ts'),
        find: "set_config('q.quiet', 'on', true)",
        replace: "set_config('q.quiet', 'off', true)",
      },
    ],
  },
  {
    name: 'every-single-enqueue-notifies',
    why: 'Commits of producers that enqueue run by run wait for each other although no replica is idle.',
    caughtBy: ['packages/client/test/enqueue-cost.test.ts'],
    edits: [{ file: src('wakes.ts'), find: ' AND EXISTS (SELECT FROM q.idle)`', replace: '`' }],
  },
  {
    name: 'trigger-for-a-single-enqueue',
    why: 'An enqueue of one run calls the trigger that wakes, in addition to its own wake.',
    caughtBy: ['packages/client/test/enqueue-cost.test.ts'],
    edits: [
      {
        file: src('runs/enqueue-one-statement.ts'),
        find: "CASE set_config('q.quiet', 'on', true)",
        replace: "CASE 'on'",
      },
    ],
  },
  {
    name: 'publication-keeps-the-gate',
    why: 'A run that was enqueued before its task was published waits until a sweep finds it.',
    caughtBy: [storeTest('task-gate'), storeTest('task-gate-keys')],
    edits: [
      { file: src('tasks/publish.ts'), find: 'await openTaskGate(', replace: 'await (async (..._: unknown[]) => [])(' },
    ],
  },
  {
    name: 'sweep-keeps-the-gate',
    why: 'A run whose enqueue did not see the publication and committed after it waits forever.',
    caughtBy: [storeModel],
    edits: [
      {
        file: src('tasks/open-gate.ts'),
        find: "r.finished_at IS NULL AND r.status IN ('PENDING', 'AVAILABLE'))",
        replace: "r.finished_at IS NULL AND r.status = 'AVAILABLE')",
      },
    ],
  },
  {
    name: 'last-run-counts-at-the-gate',
    why: 'Of runs with one unique key the last passes the gate, and the earlier ones end as its duplicates.',
    caughtBy: [storeModel],
    edits: [
      {
        file: 'db/migrations/0008-task-gate-and-keys.sql',
        find: 'ORDER BY r.id LIMIT runs_max FOR NO KEY UPDATE OF r SKIP LOCKED',
        replace: 'ORDER BY r.id DESC LIMIT runs_max FOR NO KEY UPDATE OF r SKIP LOCKED',
      },
    ],
  },
  {
    name: 'gate-forgets-the-concurrency-key',
    why: 'Runs of one concurrency key that waited for their task run at the same time.',
    caughtBy: [storeTest('task-gate'), storeTest('task-gate-keys')],
    edits: [
      {
        file: 'db/migrations/0008-task-gate-and-keys.sql',
        find: '    concurrency_key = coalesce(r.concurrency_key, of_task.concurrency_key),\n',
        replace: '    concurrency_key = r.concurrency_key,\n',
      },
    ],
  },
  {
    name: 'enqueue-without-fence',
    why: 'A zombie enqueues runs under the lease of the next holder.',
    caughtBy: [storeTest('enqueue-under-lease')],
    edits: [
      {
        file: 'packages/store/src/runs/enqueue-under-lease.ts',
        find: "    .where('fence', '=', fence)\n",
        replace: '',
      },
    ],
  },
  {
    name: 'unique-period-forgotten',
    why: 'A key that was taken for a period is free as soon as its run has ended.',
    caughtBy: [storeTest('unique')],
    edits: [
      {
        file: src('runs/enqueue-statement.ts'),
        find: "(${periodHolder(sql.ref('given.task'), sql`coalesce(given.unique_key, given.throttle_key)`)}) IS NULL",
        replace: 'true',
      },
    ],
  },
  {
    name: 'unique-period-overwritten',
    why: 'A run that came and ended while a batch was waiting loses its key to that batch.',
    caughtBy: [storeTest('unique')],
    edits: [
      {
        file: src('runs/unique-period.ts'),
        find: 'WHERE period.until <= clock_timestamp()\nRETURNING',
        replace: 'WHERE true\nRETURNING',
      },
    ],
  },
  {
    name: 'unique-keys-in-any-order',
    why: 'Two batches with the same keys wait for each other in a circle.',
    caughtBy: [storeTest('enqueue')],
    edits: [
      {
        file: src('runs/enqueue-statement.ts'),
        find: 'ORDER BY task COLLATE "C", unique_key COLLATE "C", ordinal',
        replace: '',
      },
    ],
  },
  {
    name: 'debounce-touches-what-has-begun',
    why: 'A run that failed and waits for its next attempt is given the payload of another request.',
    caughtBy: [storeTest('debounce'), storeTest('debounce-races')],
    edits: [{ file: src('runs/debounce.ts'), find: ' AND r.fence = 0', replace: '' }],
  },
  {
    name: 'debounce-without-bound',
    why: 'A steady stream of enqueues delays a run forever.',
    caughtBy: [storeTest('debounce'), storeTest('debounce-races')],
    edits: [
      {
        file: src('runs/debounce.ts'),
        find: ", r.created_at + given.debounce_max_ms * interval '1 ms')",
        replace: ')',
      },
    ],
  },
  {
    name: 'debounce-looks-before-it-locks',
    why: 'An enqueue that waited for another does not see its run, and inserts a second one.',
    caughtBy: [storeTest('debounce'), storeTest('debounce-races')],
    edits: [
      { file: src('runs/debounce.ts'), find: '  await trx.executeQuery(lockKeysStatement(runs))\n', replace: '' },
    ],
  },
  {
    name: 'tick-without-version',
    why: 'Two replicas that saw the same tick enqueue it both.',
    caughtBy: [storeTest('schedules'), storeTest('own-schedules')],
    edits: [{ file: src('schedules/tick.ts'), find: ' AND version = ${version}', replace: '' }],
  },
  {
    name: 'tick-of-a-paused-schedule',
    why: 'A tick that was seen before the pause is enqueued after it.',
    caughtBy: [storeTest('schedules'), storeTest('own-schedules')],
    edits: [{ file: src('schedules/tick.ts'), find: ' AND paused_at IS NULL', replace: '' }],
  },
  {
    name: 'owed-tick-forgotten',
    why: 'A change of the pattern loses the tick that is due at that moment.',
    caughtBy: [storeTest('schedules'), storeTest('own-schedules')],
    edits: [
      {
        file: src('schedules/put.ts'),
        find: 'WHEN s.next_tick <= excluded.seen_until AND s.paused_at IS NULL THEN s.next_tick END',
        replace: 'END',
      },
    ],
  },
  {
    name: 'log-without-fence',
    why: 'A zombie writes into the log of a run that another replica executes.',
    caughtBy: [storeTest('logs')],
    edits: [
      {
        file: src('logs/append.ts'),
        find: 'ON r.id = given.run_id AND r.fence = given.fence',
        replace: 'ON r.id = given.run_id',
      },
    ],
  },
  {
    name: 'needed-runs-pruned',
    why: 'A step’s results vanish while a child waits for them; a key that is taken for a period is free again.',
    caughtBy: [storeTest('prune')],
    edits: [{ file: src('runs/prune.ts'), find: ' AND NOT ${isNeeded}', replace: '' }],
  },
]
