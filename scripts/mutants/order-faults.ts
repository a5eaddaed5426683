/** Faults in who is next, and in what an end does to those who wait for it. */
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
  {
    name: 'dependents-forgotten',
    why: 'A step whose parents have ended waits for ever.',
    edits: [
      { file: src('runs/leave.ts'), find: 'releaseDependents(trx, ended)', replace: 'releaseDependents(trx, [])' },
    ],
  },
  {
    name: 'failed-parent-released-its-child',
    why: 'A step runs although what it needs has failed.',
    edits: [
      {
        file: src('workflows/release.ts'),
        find: 'CASE WHEN s.allows_failed THEN parents.ended ELSE parents.succeeded END',
        replace: 'parents.ended',
      },
    ],
  },
]
