/** Faults in who is next. */
import type { Fault } from './faults.ts'

const src = (path: string) => `packages/store/src/${path}`

export const orderFaults: readonly Fault[] = [
  {
    name: 'weights-ignored',
    why: 'A group or queue that was given more shares gets one.',
    edits: [
      {
        file: src('runs/fair-shares.ts'),
        find: '1 / ofPart.reduce((most, head) => Math.max(most, weightOf(head)), 1)',
        replace: '1',
      },
    ],
  },
  {
    name: 'shares-forgotten',
    why: 'A replica that claims one run at a time serves the oldest burst and nobody else.',
    edits: [{ file: src('runs/fair-shares.ts'), find: '  queues.save()\n', replace: '' }],
  },
]
