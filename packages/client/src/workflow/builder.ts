/**
 * Builds the plan of a workflow: each verb adds a step and returns a placeholder for its result. A step can refer only to
 * steps added before it, so the graph has no cycles.
 */
import type { Compensation, ValueRef, StepPlan, Template } from '@q/schema/workflow'
import type { AnyTasks } from '../verbs.ts'
import { conditions } from './condition.ts'
import { optionProblems } from './check-step-options.ts'
import type { WorkflowBuilder } from './workflow-api.ts'
import { placeholder, type PlaceholderSource, type PlaceholderScope } from './placeholder.ts'
import {
  plannedJoin,
  plannedOptions,
  type GraphOptions,
  type MapStepOptions,
  type StepRunOptions,
  type TaskStepOptions,
} from './step-options.ts'
import { knownSource, sourcesIn, templateOf } from './template.ts'
import type { Workflow } from './workflow.ts'
import { invalidWorkflow } from './workflow-error.ts'

export interface PlanBuilder {
  readonly api: WorkflowBuilder<AnyTasks>
  readonly input: object
  /** Closes the builder: later additions throw. */
  end(returned: unknown): {
    readonly steps: readonly StepPlan[]
    readonly output: Template
    readonly shown: readonly PlaceholderSource[]
  }
}

export function createPlanBuilder(workflow: string): PlanBuilder {
  const scope: PlaceholderScope = { workflow }
  const list = createStepList(workflow)
  const { sourceFor, refFor, stepOf } = placeholdersOf(workflow, scope)

  function add(kind: StepPlan['kind'], base: string, options: GraphOptions, plan: (name: string) => StepPlan): object {
    const step = list.add(kind, base, options, plan)
    return placeholder({ scope, ref: { from: 'step', step, at: '' }, orMissing: false })
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
      const items: PlaceholderScope = { workflow }
      const item = placeholder({ scope: items, ref: { from: 'item', at: '' }, orMissing: false })
      const { parallel, onItemError } = options
      return add('map', task, options, (name) => ({
        kind: 'map',
        name,
        task,
        over: refFor(over, 'map()'),
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
      list.compensate(stepOf(step, 'compensate()'), options, () => ({
        task,
        payload: templateOf(payload(step), scope),
        ...plannedOptions(options),
      }))
    },
    orMissing: (value: unknown) => placeholder({ ...sourceFor(value, 'orMissing()'), orMissing: true }),
    ...conditions(refFor, (step) => stepOf(step, 'ended()')),
  }

  return {
    // workflow-api.ts has the types; the values here are unchecked.
    api: verbs as unknown as WorkflowBuilder<AnyTasks>,
    input: placeholder({ scope, ref: { from: 'input', at: '' }, orMissing: false }),
    end(returned) {
      return { steps: list.end(), output: templateOf(returned, scope), shown: sourcesIn(returned, scope) }
    },
  }
}

interface StepList {
  /** Returns the name of the step. */
  add(kind: StepPlan['kind'], base: string, options: GraphOptions, plan: (name: string) => StepPlan): string
  compensate(name: string, options: StepRunOptions, plan: () => Compensation): void
  /** Closes the list: later additions throw. */
  end(): readonly StepPlan[]
}

function createStepList(workflow: string): StepList {
  const steps: StepPlan[] = []
  /** How many steps are named after each task or workflow. */
  const used = new Map<string, number>()
  let isOpen = true

  function requireOpen(): void {
    if (!isOpen) throw invalidWorkflow(workflow, ['a step was added after its function had returned'])
  }

  function requireOptions(kind: StepPlan['kind'] | 'compensation', name: string, options: object): void {
    const problems = optionProblems(kind, options).map((problem) => `step ${JSON.stringify(name)}: ${problem}`)
    if (problems.length > 0) throw invalidWorkflow(workflow, problems)
  }

  function nameFor({ name }: GraphOptions, base: string): string {
    if (name !== undefined) return name
    const count = (used.get(base) ?? 0) + 1
    used.set(base, count)
    return count === 1 ? base : `${base} ${count}`
  }

  return {
    add(kind, base, options, plan) {
      requireOpen()
      const name = nameFor(options, base)
      requireOptions(kind, name, options)
      steps.push(plan(name))
      return name
    },
    compensate(name, options, plan) {
      requireOpen()
      requireOptions('compensation', name, options)
      const index = steps.findIndex((step) => step.name === name)
      const step = steps[index]
      if (step === undefined) return
      if (step.compensate !== undefined)
        throw invalidWorkflow(workflow, [`step ${JSON.stringify(name)} is compensated twice`])
      steps[index] = { ...step, compensate: plan() }
    },
    end() {
      isOpen = false
      return [...steps]
    },
  }
}

interface Placeholders {
  sourceFor(candidate: unknown, where: string): PlaceholderSource
  refFor(candidate: unknown, where: string): ValueRef
  /** The name of the step that a placeholder stands for. */
  stepOf(candidate: unknown, where: string): string
}

/** `where` names the verb that received the candidate, for the error. */
function placeholdersOf(workflow: string, scope: PlaceholderScope): Placeholders {
  function sourceFor(candidate: unknown, where: string): PlaceholderSource {
    const source = knownSource(candidate, scope)
    if (source !== undefined) return source
    throw invalidWorkflow(workflow, [`${where} was given a value, and wants a placeholder`])
  }
  const refFor = (candidate: unknown, where: string): ValueRef => sourceFor(candidate, where).ref
  return {
    sourceFor,
    refFor,
    stepOf(candidate, where) {
      const ref = refFor(candidate, where)
      if (ref.from === 'step' && ref.at === '') return ref.step
      throw invalidWorkflow(workflow, [`${where} was given a part of a result or of the input, and wants a step`])
    },
  }
}
