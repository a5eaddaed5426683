/** Faults in who is next. */
import { storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/${path}`

export const orderFaults: readonly Fault[] = [
  {
    name: 'weights-ignored',
    why: 'A group or queue that was given more shares gets one.',
    caughtBy: [storeTest('fair-shares')],
    edits: [
      {
        file: src('runs/fair-shares.ts'),
        find: '1 / ofPart.reduce((most, candidate) => Math.max(most, weightOf(candidate)), 1)',
        replace: '1',
      },
    ],
  },
  {
    name: 'place-for-a-run-that-cannot-start',
    why: 'A run of a paused queue, or one that no replica serves, gets a concurrency key and blocks the others.',
    caughtBy: [storeTest('key-slots')],
    edits: [
      {
        file: src('runs/startable.ts'),
        find: 'CASE WHEN ${isPaused} THEN NULL WHEN',
        replace: 'CASE WHEN ${isPaused} THEN 1 WHEN',
      },
    ],
  },
  {
    name: 'place-kept-by-a-run-that-cannot-start',
    why: 'A key stays with a run whose queue was paused after it got the key.',
    caughtBy: [storeTest('key-slots')],
    edits: [
      {
        file: src('runs/keys-statement.ts'),
        find: 'NOT waits AND (rank IS NULL OR ordinal',
        replace: 'NOT waits AND (false OR ordinal',
      },
    ],
  },
  {
    name: 'place-kept-from-an-urgent-run',
    why: 'A run that has not begun goes before a more urgent one of its key.',
    caughtBy: [storeTest('key-slots')],
    edits: [
      {
        file: src('runs/keys-statement.ts'),
        find: 'ordinal > occupied.room AND first_successor <= occupied.room',
        replace: 'ordinal > occupied.room AND first_successor < 0',
      },
    ],
  },
  {
    name: 'place-handed-to-a-run-that-cannot-start',
    why: 'The end of a run hands its key to a run that blocks it.',
    caughtBy: [storeTest('key-slots')],
    edits: [
      {
        file: src('runs/slot-handover.ts'),
        find: 'ranks.id = own.lane AND ranks.rank IS NOT NULL',
        replace: 'ranks.id = own.lane',
      },
    ],
  },
  {
    name: 'shares-forgotten',
    why: 'A replica that claims one run at a time serves the oldest burst only.',
    caughtBy: [storeTest('fair-shares')],
    edits: [{ file: src('runs/fair-shares.ts'), find: '  queues.save()\n', replace: '' }],
  },
]
