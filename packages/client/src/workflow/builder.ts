/**
 * What the function of a workflow works with: each verb notes a step and hands back a placeholder for its result.
 * Parents exist before their children can name them, so what is built here has no cycles.
 */
import type { Compensation, Hole, StepPlan, Template } from '@q/schema/workflow'
import type { AnyTasks } from '../verbs.ts'
import { conditions } from './condition.ts'
import { optionProblems } from './check-step-options.ts'
import type { WorkflowKit } from './kit.ts'
import { placeholder, type Origin, type Scope } from './placeholder.ts'
import {
  plannedJoin,
  plannedOptions,
  type GraphOptions,
  type MapStepOptions,
  type StepRunOptions,
  type TaskStepOptions,
} from './step-options.ts'
import { knownOrigin, originsIn, templateOf } from './template.ts'
import type { Workflow } from './workflow.ts'
import { invalidWorkflow } from './workflow-error.ts'

export interface Builder {
  readonly kit: WorkflowKit<AnyTasks>
  readonly input: object
  /** From here on nothing can be added. */
  end(returned: unknown): {
    readonly steps: readonly StepPlan[]
    readonly output: Template
    readonly shown: readonly Origin[]
  }
}

export function createBuilder(workflow: string): Builder {
  const scope: Scope = { workflow }
  const steps: StepPlan[] = []
  /** How many steps have been named after a task or workflow. */
  const used = new Map<string, number>()
  let isOpen = true

  function requireOpen(): void {
    if (!isOpen) throw invalidWorkflow(workflow, ['something was added after its function had returned'])
  }

  function requireOptions(kind: StepPlan['kind'] | 'compensation', name: string, options: object): void {
    const problems = optionProblems(kind, options)
    if (problems.length > 0) {
      throw invalidWorkflow(
        workflow,
        problems.map((problem) => `step ${JSON.stringify(name)}: ${problem}`),
      )
    }
  }

  function add(kind: StepPlan['kind'], base: string, options: GraphOptions, plan: (name: string) => StepPlan): object {
    requireOpen()
    const name = nameFor(options, base)
    requireOptions(kind, name, options)
    steps.push(plan(name))
    return placeholder({ scope, hole: { from: 'step', step: name, at: '' }, orMissing: false })
  }

  function nameFor({ name }: GraphOptions, base: string): string {
    if (name !== undefined) return name
    const count = (used.get(base) ?? 0) + 1
    used.set(base, count)
    return count === 1 ? base : `${base} ${count}`
  }

  function graphOf({
    after,
    join,
    allowFailed,
    when,
  }: GraphOptions): Pick<StepPlan, 'after' | 'join' | 'allowFailed' | 'when'> {
    return {
      ...(after === undefined ? {} : { after: after.map((step) => stepOf(step, 'after')) }),
      ...(join === undefined ? {} : { join: plannedJoin(join) }),
      ...(allowFailed === undefined ? {} : { allowFailed }),
      ...(when === undefined ? {} : { when: when.condition }),
    }
  }

  function originFor(candidate: unknown, where: string): Origin {
    const origin = knownOrigin(candidate, scope)
    if (origin !== undefined) return origin
    throw invalidWorkflow(workflow, [`${where} was given a value, and wants a placeholder`])
  }

  const holeFor = (candidate: unknown, where: string): Hole => originFor(candidate, where).hole

  function stepOf(candidate: unknown, where: string): string {
    const hole = holeFor(candidate, where)
    if (hole.from === 'step' && hole.at === '') return hole.step
    throw invalidWorkflow(workflow, [`${where} was given a part of a result or of the input, and wants a step`])
  }

  function undo(name: string, compensate: Compensation): void {
    const place = steps.findIndex((step) => step.name === name)
    const step = steps[place]
    if (step === undefined) return
    if (step.compensate !== undefined)
      throw invalidWorkflow(workflow, [`step ${JSON.stringify(name)} is compensated twice`])
    steps[place] = { ...step, compensate }
  }

  const verbs = {
    step(task: string, payload: unknown, options: TaskStepOptions = {}) {
      return add('task', task, options, (name) => {
        return {
          kind: 'task',
          name,
          task,
          payload: templateOf(payload, scope),
          ...graphOf(options),
          ...plannedOptions(options),
        }
      })
    },
    map(task: string, over: unknown, payload: (item: object) => unknown, options: MapStepOptions = {}) {
      const items: Scope = { workflow }
      const item = placeholder({ scope: items, hole: { from: 'item', at: '' }, orMissing: false })
      const { parallel, onItemError } = options
      return add('map', task, options, (name) => ({
        kind: 'map',
        name,
        task,
        over: holeFor(over, 'map()'),
        payload: templateOf(payload(item), scope, items),
        ...(parallel === undefined ? {} : { parallel }),
        ...(onItemError === undefined ? {} : { onItemError }),
        ...graphOf(options),
        ...plannedOptions(options),
      }))
    },
    sub({ name: base, plan }: Workflow, input: unknown, options: GraphOptions = {}) {
      return add('workflow', base, options, (name) => {
        return { kind: 'workflow', name, workflow: plan, input: templateOf(input, scope), ...graphOf(options) }
      })
    },
    compensate(step: unknown, task: string, payload: (done: unknown) => unknown, options: StepRunOptions = {}) {
      requireOpen()
      const name = stepOf(step, 'compensate()')
      requireOptions('compensation', name, options)
      undo(name, { task, payload: templateOf(payload(step), scope), ...plannedOptions(options) })
    },
    orMissing: (value: unknown) => placeholder({ ...originFor(value, 'orMissing()'), orMissing: true }),
    ...conditions(holeFor, (step) => stepOf(step, 'ended()')),
  }

  return {
    // Types are the business of the contracts: here everything is what somebody wrote.
    kit: verbs as unknown as WorkflowKit<AnyTasks>,
    input: placeholder({ scope, hole: { from: 'input', at: '' }, orMissing: false }),
    end(returned) {
      isOpen = false
      return { steps: [...steps], output: templateOf(returned, scope), shown: originsIn(returned, scope) }
    },
  }
}
