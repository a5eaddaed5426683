/** The steps of a workflow as one bar of their states, with the numbers beside it. */
import type { ReactNode } from 'react'
import type { TaskState } from '../../api/contract.ts'
import type { WorkflowView } from '../../api/run-contract.ts'
import { toneOf } from '../../parts/badge.tsx'

const order: readonly TaskState[] = [
  'SUCCEEDED',
  'RUNNING',
  'CLAIMED',
  'AVAILABLE',
  'PENDING',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
  'SKIPPED',
]
const width = 120

export function StepCounts({ workflow }: { readonly workflow: WorkflowView }): ReactNode {
  const { progress, steps } = workflow
  const parts: { state: TaskState; count: number; x: number; width: number }[] = []
  for (const state of order) {
    const count = steps[state] ?? 0
    if (count === 0) continue
    const before = parts.at(-1)
    const x = before === undefined ? 0 : before.x + before.width
    parts.push({ state, count, x, width: (count / Math.max(1, progress.total)) * width })
  }
  const words = parts.map(({ state, count }) => `${count} ${state.toLowerCase()}`).join(', ')
  return (
    <span className="withbar">
      <svg className="states" width={width} height="8" viewBox={`0 0 ${width} 8`} role="img" aria-label={words}>
        {parts.map((part) => (
          <rect
            key={part.state}
            className={`${toneOf(part.state)} ${part.state === 'PENDING' ? 'faint' : ''}`}
            x={part.x}
            width={Math.max(0, part.width - 1)}
            height="8"
            rx="1.5"
          />
        ))}
      </svg>
      <span className="pc">
        {progress.ended}/{progress.total}
      </span>
      <span className="cut mute only-l">{words}</span>
    </span>
  )
}
