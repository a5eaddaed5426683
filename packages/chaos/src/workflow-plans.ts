/** Workflows of every kind, with the required outcome of each, whichever replica dies. */
import type { StepPlan, WorkflowPlan } from '@q/schema/workflow'
import type { StepPayload } from './tasks.ts'

export interface Case {
  readonly plan: WorkflowPlan
  readonly ends: 'SUCCEEDED' | 'FAILED'
  /** The required number of steps per state; steps that are not listed may have ended in any state. */
  readonly steps: Readonly<Record<string, number>>
  /** Whether the workflow is paused for a while in the middle. */
  readonly paused?: boolean
}

type More = Partial<Pick<StepPlan, 'after' | 'join' | 'allowFailed'>>

function step(
  name: string,
  after: readonly string[] = [],
  payload: StepPayload = { ms: 50 },
  more: More = {},
): StepPlan {
  return { kind: 'task', name, task: 'step', after, payload: { value: payload, holes: {} }, ...more }
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

function diamond(ms: number): StepPlan[] {
  return [step('a', [], { ms }), step('b', ['a'], { ms }), step('c', ['a'], { ms }), step('d', ['b', 'c'], { ms })]
}

/** One branch fails at once, the other one takes longer. */
function branches(onError: 'fail' | 'pause' | 'continue'): WorkflowPlan {
  const steps = [
    step('bad', [], { fails: true }),
    step('after', ['bad']),
    step('x', [], { ms: 1_500 }),
    step('y', ['x']),
  ]
  return { name: `a failing branch, ${onError}`, onError, steps }
}

export function cases(width: number): Case[] {
  const wide = names('wide ', width)
  const votes = names('vote ', 5)
  const list = names('', 20).map((_, index) => index)
  const map: StepPlan = {
    kind: 'map',
    name: 'map',
    task: 'step',
    over: { from: 'step', step: 'list', at: '' },
    parallel: 3,
    payload: { value: { ms: 100, item: null }, holes: { '/item': { from: 'item', at: '' } } },
  }
  const inner: StepPlan = {
    kind: 'workflow',
    name: 'inner',
    input: { value: null, holes: {} },
    workflow: { name: 'within', steps: [step('list', [], { list }), map, step('last', ['map'])] },
  }
  return [
    { plan: { name: 'diamond', steps: diamond(500) }, ends: 'SUCCEEDED', steps: { SUCCEEDED: 4 } },
    {
      plan: {
        name: `${width} wide`,
        steps: [step('first'), ...wide.map((name) => step(name, ['first'], {})), step('last', wide)],
      },
      ends: 'SUCCEEDED',
      steps: { SUCCEEDED: width + 2 },
    },
    {
      plan: {
        name: 'quorum',
        onError: 'continue',
        steps: [
          ...votes.map((name, index) => step(name, [], { ms: 300, fails: index < 2 })),
          step('agreed', votes, {}, { join: { kind: 'quorum', of: 3 } }),
        ],
      },
      ends: 'SUCCEEDED',
      steps: { SUCCEEDED: 4, FAILED: 2 },
    },
    {
      plan: { name: 'paused and resumed', steps: diamond(500) },
      ends: 'SUCCEEDED',
      steps: { SUCCEEDED: 4 },
      paused: true,
    },
    {
      plan: { name: 'a sub-workflow with a map', steps: [inner, step('then', ['inner'])] },
      ends: 'SUCCEEDED',
      steps: { SUCCEEDED: 2 },
    },
    { plan: branches('fail'), ends: 'FAILED', steps: { FAILED: 1 } },
    { plan: branches('continue'), ends: 'FAILED', steps: { FAILED: 1, SKIPPED: 1, SUCCEEDED: 2 } },
    { plan: branches('pause'), ends: 'FAILED', steps: { FAILED: 1, SKIPPED: 1, SUCCEEDED: 2 } },
  ]
}
