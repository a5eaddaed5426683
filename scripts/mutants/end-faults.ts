/** Faults in the counts and the outcome at the end of an attempt. */
import { storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/${path}`
const transition = src('runs/transition-statement.ts')

export const endFaults: readonly Fault[] = [
  {
    name: 'start-is-the-commit',
    why: 'A run that waited in a batch seems to have run since it was claimed.',
    caughtBy: [storeTest('real-start')],
    edits: [
      {
        file: src('runs/real-start.ts'),
        find: "greatest(${startedAt}, clock_timestamp() - ${tookMs} * interval '1 ms')",
        replace: "greatest(${startedAt}, ${startedAt} - ${tookMs} * interval '1 ms')",
      },
    ],
  },
  {
    name: 'crash-not-counted',
    why: 'A run that kills its replicas is started forever.',
    caughtBy: [storeTest('reap')],
    edits: [
      {
        file: transition,
        find: 'r.crash_count + CASE WHEN locked.crashed THEN 1 ELSE 0 END',
        replace: 'r.crash_count',
      },
    ],
  },
  {
    name: 'crashes-without-end',
    why: 'The same, by forgetting the limit.',
    caughtBy: [storeTest('reap')],
    edits: [{ file: transition, find: ' AND r.crash_count < ${crashesMax}', replace: '' }],
  },
  {
    name: 'on-crash-skips-task',
    why: 'A task that declares fail is started again after the death of a replica whose default is retry.',
    caughtBy: [storeTest('on-crash')],
    edits: [{ file: src('runs/on-crash.ts'), find: 'WHERE task.name = r.task', replace: 'WHERE false' }],
  },
  {
    name: 'snooze-counts-as-attempt',
    why: 'A run that only waits for something runs out of attempts.',
    caughtBy: [storeTest('retries')],
    edits: [{ file: src('runs/snooze.ts'), find: ', refundAttempt: true', replace: '' }],
  },
  {
    name: 'cancel-looks-once',
    why: 'A cancel that races with a release is lost, and the caller learns that the run has ended.',
    caughtBy: [storeTest('retries')],
    edits: [
      {
        file: src('runs/cancel.ts'),
        find: "if (answer === 'moved' || answer === 'step') moved.push(id)",
        replace: "if (answer === 'moved' || answer === 'step') answers.set(id, 'already-ended')",
      },
    ],
  },
]
