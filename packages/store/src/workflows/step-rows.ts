/**
 * Turns steps of a plan into rows, with the options of their tasks. References to the workflow's input and to items are
 * filled in here; references to other steps are filled in when the step starts.
 */
import {
  fillSome,
  valueAt,
  type Compensation,
  type ValueRef,
  type StepOptions,
  type StepPlan,
  type Template,
} from '@q/schema/workflow'
import { noLane } from '../lanes.ts'
import type { StepTask } from './new-workflow.ts'
import { stepKeyAt } from './key-at.ts'

export type StepKind = 'task' | 'map' | 'workflow' | 'item' | 'compensation'

/** A run and its role in its workflow, ready to insert. */
export interface StepRow {
  readonly name: string
  readonly kind: StepKind
  readonly task: string
  readonly lane: number
  readonly payload: unknown
  /** References that are filled in when the step starts. */
  readonly inputs: Readonly<Record<string, ValueRef>>
  readonly needs: number
  readonly tolerates: number
  readonly allowsFailed: boolean
  readonly conditional: boolean
  readonly parallelMax?: number
  readonly itemOf?: string
  readonly itemIndex?: number
  readonly plan?: object
  readonly settings: RunSettings
}

interface RunSettings extends StepOptions {
  readonly concurrency?: { readonly scope: string; readonly key: string }
}

/** Task names of structural steps; no replica has such tasks, and no claim reads their lane. */
const structural = { map: 'q.map', workflow: 'q.workflow' } as const

export interface RowContext {
  readonly input: unknown
  readonly tasks: Readonly<Record<string, StepTask>>
}

export function rowOf(step: StepPlan, parents: number, context: RowContext): StepRow {
  const needs = step.join?.kind === 'any' ? 1 : step.join?.kind === 'quorum' ? step.join.of : parents
  const plan = planOf(step)
  const common = {
    name: step.name,
    lane: step.kind === 'task' ? laneOf(step.task, context) : noLane,
    needs,
    tolerates: parents - needs,
    allowsFailed: step.allowFailed ?? false,
    conditional: step.when !== undefined,
    ...(plan === undefined ? {} : { plan }),
  }
  if (step.kind === 'task') {
    return { ...common, kind: 'task', task: step.task, ...runOf(step.task, step.payload, step.options, context) }
  }
  const expiry =
    step.kind === 'map' && step.options?.expiresInMs !== undefined ? { expiresInMs: step.options.expiresInMs } : {}
  return {
    ...common,
    kind: step.kind,
    task: structural[step.kind],
    payload: null,
    inputs: {},
    settings: expiry,
    ...(step.kind === 'map' && step.parallel !== undefined ? { parallelMax: step.parallel } : {}),
  }
}

/** Returns undefined if the columns of the step hold everything. */
function planOf(step: StepPlan): object | undefined {
  const { when, compensate } = step
  const also = { ...(when === undefined ? {} : { when }), ...(compensate === undefined ? {} : { compensate }) }
  if (step.kind === 'map') {
    const { task, payload, over, onItemError = 'fail', options = {} } = step
    return { ...also, task, payload, over, onItemError, options }
  }
  if (step.kind === 'workflow') return { ...also, workflow: step.workflow, input: step.input }
  return Object.keys(also).length === 0 ? undefined : also
}

/** Returns payload and options of a run; options of the step override those of the task. */
export function runOf(
  task: string,
  template: Template,
  options: StepOptions = {},
  { input, tasks }: RowContext,
  item?: { readonly value: unknown },
): Pick<StepRow, 'payload' | 'inputs' | 'settings'> {
  const { value: payload, holes: inputs } = fillSome(template, (ref) => {
    if (ref.from === 'input') return { value: valueAt(input, ref.at) ?? null }
    return ref.from === 'item' && item !== undefined ? { value: valueAt(item.value, ref.at) ?? null } : undefined
  })
  const { priority, maxAttempts, onCrash, concurrency } = tasks[task] ?? {}
  const key = concurrency === undefined ? undefined : stepKeyAt(payload, concurrency.at)
  return {
    payload,
    inputs,
    settings: {
      ...(priority === undefined ? {} : { priority }),
      ...(maxAttempts === undefined ? {} : { maxAttempts }),
      ...(onCrash === undefined ? {} : { onCrash }),
      ...(concurrency === undefined || key === undefined ? {} : { concurrency: { scope: concurrency.scope, key } }),
      ...options,
    },
  }
}

/** Returns the run that compensates a step; `index` is its position in the order of compensation. */
export function compensationRow(
  name: string,
  { task, payload, options }: Compensation,
  index: number,
  context: RowContext,
): StepRow {
  return {
    name: `${name} (undo)`,
    kind: 'compensation',
    task,
    lane: laneOf(task, context),
    needs: index === 0 ? 0 : 1,
    tolerates: 0,
    allowsFailed: true,
    conditional: false,
    ...runOf(task, payload, options, context),
  }
}

export function laneOf(task: string, { tasks }: Pick<RowContext, 'tasks'>): number {
  const lane = tasks[task]?.lane
  if (lane === undefined) throw new Error(`The workflow was started without the options of its task ${task}.`)
  return lane
}
