/** Faults in how runs come to be, and in what their code writes. */
import type { Fault } from './faults.ts'

const src = (path: string) => `packages/store/src/${path}`

export const enqueueFaults: readonly Fault[] = [
  {
    name: 'unique-period-forgotten',
    why: 'A key that was taken for a period is free as soon as its run has ended.',
    edits: [
      {
        file: src('runs/enqueue-statement.ts'),
        find: "unique_key IS NULL OR (${periodHolder(sql.ref('given.task'), sql.ref('given.unique_key'))}) IS NULL",
        replace: 'true',
      },
    ],
  },
  {
    name: 'unique-period-overwritten',
    why: 'A run that came and ended while a batch was waiting loses its key to that batch.',
    edits: [
      {
        file: src('runs/unique-period.ts'),
        find: 'WHERE period.until <= clock_timestamp() OR',
        replace: 'WHERE true OR',
      },
    ],
  },
  {
    name: 'unique-keys-in-any-order',
    why: 'Two batches with the same keys wait for each other in a circle.',
    edits: [
      {
        file: src('runs/enqueue-statement.ts'),
        find: 'ORDER BY task COLLATE "C", unique_key COLLATE "C", place',
        replace: '',
      },
    ],
  },
  {
    name: 'log-without-fence',
    why: 'A zombie writes into the log of the run that somebody else executes.',
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
    edits: [{ file: src('runs/prune.ts'), find: ' AND NOT ${isNeeded}', replace: '' }],
  },
]
