/** Faults in which runs hold a concurrency key or a unique key. */
import { storeModel, storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/${path}`
const transition = src('runs/transition-statement.ts')
const slotHandover = src('runs/slot-handover.ts')
const keys = src('runs/keys-statement.ts')
const migration = 'db/migrations/0001-task-runs.sql'

export const keyFaults: readonly Fault[] = [
  {
    name: 'promotion-ignores-occupied-slots',
    why: 'More runs of one key are live than its limit.',
    caughtBy: [storeTest('gates')],
    edits: [
      {
        file: keys,
        find: 'greatest(0, keys.slots - count(*) FILTER (WHERE NOT ${isUnclaimed}))::int AS room',
        replace: 'keys.slots AS room',
      },
      { file: keys, find: 'WHERE slot = ANY(given.slots) OR slot <> ALL(plans.taken) ORDER', replace: 'ORDER' },
      {
        file: keys,
        find: 'greatest(0, plans.slots - cardinality(plans.taken) + coalesce(cardinality(given.slots), 0)) AS room',
        replace: 'plans.slots AS room',
      },
      { file: migration, find: 'CREATE UNIQUE INDEX task_run_slot', replace: 'CREATE INDEX task_run_slot' },
    ],
  },
  {
    name: 'slot-not-freed',
    why: 'A run that has ended occupies its key forever.',
    caughtBy: [storeTest('gates')],
    edits: [
      {
        file: transition,
        find: "concurrency_slot = CASE WHEN locked.next = 'AVAILABLE' THEN r.concurrency_slot END",
        replace: 'concurrency_slot = r.concurrency_slot',
      },
      {
        file: 'db/migrations/0013-leaner-guard.sql',
        find: '(concurrency_slot IS NOT NULL) = (concurrency_key',
        replace: '(concurrency_slot IS NOT NULL) >= (concurrency_key',
      },
    ],
  },
  {
    name: 'slot-not-handed-on',
    why: 'The next run of the key waits for a sweep instead of following at once.',
    caughtBy: [storeTest('gates')],
    edits: [
      {
        file: slotHandover,
        find: "g.status <> 'AVAILABLE' AND g.",
        replace: "g.status <> 'AVAILABLE' AND false AND g.",
      },
      { file: slotHandover, find: 'CASE WHEN e.slot IS NOT NULL THEN e.key END', replace: 'NULL' },
    ],
  },
  {
    name: 'lowered-limit-handed-on',
    why: 'After a limit was lowered one holder too many stays while runs follow each other.',
    caughtBy: [storeModel],
    edits: [
      {
        file: slotHandover,
        find: 'AND NOT EXISTS (\n      SELECT FROM q.task_run h',
        replace:
          'AND NOT EXISTS (\n      SELECT FROM q.task_run h WHERE false) AND NOT EXISTS (\n      SELECT FROM (SELECT * FROM q.task_run WHERE false) h',
      },
    ],
  },
  {
    name: 'unique-conflict-ignored',
    why: 'Two live runs have one unique key.',
    caughtBy: [storeTest('gates')],
    edits: [{ file: migration, find: 'CREATE UNIQUE INDEX task_run_unique', replace: 'CREATE INDEX task_run_unique' }],
  },
]
