/** Badges of runs, nodes, threads, queues and workflows. Run states are UPPERCASE, the others lowercase. */
import type { ReactNode } from 'react'
import type { Node, TaskState } from '../api/contract.ts'
import type { WorkflowStatus } from '../api/run-contract.ts'
import { Glyph, type GlyphName } from './glyph.tsx'

interface Props {
  readonly tone: string
  readonly glyph: GlyphName
  readonly big?: boolean
  readonly children: ReactNode
}

export function Badge({ tone, glyph, big = false, children }: Props): ReactNode {
  return (
    <span className={`badge ${tone}${big ? ' big' : ''}`}>
      <Glyph name={glyph} />
      {children}
    </span>
  )
}

export function RunBadge(props: {
  readonly status: TaskState
  readonly stopping?: boolean
  readonly big?: boolean
}): ReactNode {
  const { status, stopping = false, big = false } = props
  if (stopping && (status === 'RUNNING' || status === 'CLAIMED'))
    return (
      <Badge tone="stopping" glyph="stopping" big={big}>
        {status} · stopping
      </Badge>
    )
  const name = toneOf(status)
  return (
    <Badge tone={name} glyph={name} big={big}>
      {status}
    </Badge>
  )
}

/** The class and the glyph of a run state have the same name. */
export function toneOf(status: TaskState): Lowercase<TaskState> {
  return status.toLowerCase() as Lowercase<TaskState>
}

export function NodeBadge({ node, big = false }: { readonly node: Node; readonly big?: boolean }): ReactNode {
  if (node.state === 'stale')
    return (
      <Badge tone="lost" glyph="lost" big={big}>
        lost
      </Badge>
    )
  const left = node.drain?.runsLeft
  const words = node.state === 'draining' && left !== undefined ? `draining, ${left} left` : node.state
  return (
    <Badge tone={node.state} glyph={node.state} big={big}>
      {words}
    </Badge>
  )
}

const workflowTones = {
  RUNNING: 'running',
  PAUSED: 'paused',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const satisfies Record<WorkflowStatus, GlyphName>

export function WorkflowBadge({
  status,
  big = false,
}: {
  readonly status: WorkflowStatus
  readonly big?: boolean
}): ReactNode {
  const tone = workflowTones[status]
  return (
    <Badge tone={tone} glyph={tone} big={big}>
      {status}
    </Badge>
  )
}
