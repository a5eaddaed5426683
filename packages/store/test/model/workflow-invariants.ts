/**
 * What must be true of a workflow at any moment, said without the store: from its graph and the states of its steps alone.
 * Pure.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { WorkflowView } from '@q/store'

export interface ModelStep {
  readonly name: string
  readonly parents: readonly string[]
  /** Of its parents, how many. */
  readonly needs: number
  readonly allowFailed: boolean
}

export interface SeenStep {
  readonly status: TaskState
  readonly waitingFor: string | null
  readonly code: string | null
}

export interface WorkflowSnapshot {
  readonly workflow: Pick<WorkflowView, 'status' | 'endsAs' | 'onError'>
  readonly steps: ReadonlyMap<string, SeenStep>
}

const bad: readonly TaskState[] = ['FAILED', 'CANCELLED', 'EXPIRED']

/** `letGo`: steps that were seen past their parents before; those may have been retried since. Laws that are broken. */
export function brokenLaws(graph: readonly ModelStep[], seen: WorkflowSnapshot, letGo: ReadonlySet<string>): string[] {
  const { workflow } = seen
  const ended = workflow.status !== 'RUNNING' && workflow.status !== 'PAUSED'
  const stateOf = (name: string) => seen.steps.get(name)?.status ?? 'PENDING'
  const broken = graph.flatMap((step) => {
    const own = seen.steps.get(step.name)
    if (own === undefined) return [`${step.name} is gone`]
    const states = step.parents.map(stateOf)
    const good = states.filter((state) => state === 'SUCCEEDED' || (step.allowFailed && isTerminal(state))).length
    const lost = states.filter(isTerminal).length - good
    const canGo = lost <= states.length - step.needs
    const laws: [string, boolean][] =
      own.status === 'PENDING' && own.waitingFor === 'parents'
        ? [
            ['waits though its parents let it go', good < step.needs],
            ['waits for parents that can let it go no more', canGo],
            ['waits in a workflow that is at its end', !ended && workflow.endsAs === null],
          ]
        : own.status === 'SKIPPED'
          ? [['was skipped without a reason', !canGo || workflow.endsAs === 'FAILED']]
          : bad.includes(own.status)
            ? []
            : [
                ['began before its parents let it go', letGo.has(step.name) || good >= step.needs],
                ['is live in a workflow that has ended', isTerminal(own.status) || !ended],
                [
                  'can be claimed in a paused workflow',
                  workflow.status !== 'PAUSED' ||
                    own.waitingFor === 'workflow' ||
                    ['RUNNING', 'SUCCEEDED'].includes(own.status),
                ],
              ]
    return laws.filter(([, kept]) => !kept).map(([law]) => `${step.name} ${law}`)
  })
  return [...broken, ...brokenEnds(graph, seen)]
}

/** Errors that no dependent tolerates: of steps without children, or with a child that was skipped because of them. */
function errors(graph: readonly ModelStep[], seen: WorkflowSnapshot): string[] {
  return graph.flatMap(({ name }) => {
    if (!bad.includes(seen.steps.get(name)?.status ?? 'PENDING')) return []
    const children = graph.filter((step) => step.parents.includes(name))
    const skipped = children.some((child) => seen.steps.get(child.name)?.code?.startsWith('UPSTREAM_'))
    return children.length === 0 || skipped ? [name] : []
  })
}

function brokenEnds(graph: readonly ModelStep[], seen: WorkflowSnapshot): string[] {
  const { status, endsAs, onError } = seen.workflow
  const over = graph.every((step) => isTerminal(seen.steps.get(step.name)?.status ?? 'PENDING'))
  const wrong = errors(graph, seen)
  const laws: [string, boolean][] = [
    ['all its steps have ended and it has not', !over || status !== 'RUNNING'],
    ['it has ended and its steps have not', over || status === 'RUNNING' || status === 'PAUSED'],
    ['it succeeded in spite of an error', status !== 'SUCCEEDED' || wrong.length === 0],
    ['it failed without an error', status !== 'FAILED' || wrong.length > 0],
    ['it goes on after an error', onError !== 'fail' || wrong.length === 0 || endsAs !== null],
  ]
  return laws.filter(([, kept]) => !kept).map(([law]) => law)
}
