/**
 * A workflow as data: a builder produces it, the store checks, stores and follows it. Pure: no clock, no SQL.
 *
 * A step is a future run. Where its payload needs the result of another step, the template has a reference, which makes
 * the other step a parent. `after` names further parents.
 */
import type { TerminalState } from '../task-states.ts'

export interface WorkflowPlan {
  readonly name: string
  /** What happens to the other steps when a step ends without success and no dependent tolerates it; default `fail`. */
  readonly onError?: 'fail' | 'pause' | 'continue'
  readonly steps: readonly StepPlan[]
  /** The return value of the workflow; default null. */
  readonly output?: Template
}

export type StepPlan = TaskStepPlan | MapStepPlan | WorkflowStepPlan

interface AnyStep {
  /** Unique in its workflow. */
  readonly name: string
  /** Parents in addition to those that references name. */
  readonly after?: readonly string[]
  /** How many parents must have succeeded; default: all. */
  readonly join?: PlannedJoin
  /** Whether any end of a parent counts, not only its success. */
  readonly allowFailed?: boolean
  /** Evaluated when the parents release the step; if false, the step is SKIPPED. */
  readonly when?: Condition
  /** Undoes a success of this step when the workflow fails or is cancelled. */
  readonly compensate?: Compensation
}

export interface TaskStepPlan extends AnyStep {
  readonly kind: 'task'
  readonly task: string
  readonly payload: Template
  readonly options?: StepOptions
}

/** One run of the task per element of a list; its result is the list of their results. */
export interface MapStepPlan extends AnyStep {
  readonly kind: 'map'
  readonly task: string
  /** Payload of one item: references may be `from: 'item'`. */
  readonly payload: Template
  readonly over: ValueRef
  /** How many items may be open at a time; default: all. */
  readonly parallel?: number
  /** `fail` (default): the map fails if an item fails. `collect`: the list has code and detail in place of its result. */
  readonly onItemError?: 'fail' | 'collect'
  readonly options?: StepOptions
}

/** A sub-workflow; its result is the output of that workflow. */
export interface WorkflowStepPlan extends AnyStep {
  readonly kind: 'workflow'
  readonly workflow: WorkflowPlan
  readonly input: Template
}

export interface Compensation {
  readonly task: string
  /** References may also name the compensated step. */
  readonly payload: Template
  readonly options?: StepOptions
}

export type PlannedJoin =
  | { readonly kind: 'all' }
  | { readonly kind: 'any' }
  | { readonly kind: 'quorum'; readonly of: number }

/** Options of the runs of a step that override those of the task. */
export interface StepOptions {
  readonly priority?: number
  readonly group?: string
  /** Counted from the release by its parents. */
  readonly delayMs?: number
  /** Counted from the start of the workflow. */
  readonly expiresInMs?: number
  readonly timeoutMs?: number
  readonly maxSilentMs?: number
  readonly maxAttempts?: number
  readonly onCrash?: 'fail' | 'retry'
}

/**
 * JSON with references to values that are not known yet. `holes` (the stored name): by JSON pointer into `value`, the
 * reference whose value replaces what `value` has there.
 */
export interface Template {
  readonly value: unknown
  readonly holes: Readonly<Record<string, ValueRef>>
}

/** `at`: a JSON pointer into the result, the workflow's input or the item; empty: the whole value. */
export type ValueRef =
  | { readonly from: 'step'; readonly step: string; readonly at: string }
  | { readonly from: 'input'; readonly at: string }
  | { readonly from: 'item'; readonly at: string }

/** The result of a step that did not succeed is null here; `ended` tests how a parent ended. */
export type Condition =
  | { readonly value: ValueRef; readonly is: 'truthy' | 'falsy' | PlannedTest }
  | { readonly step: string; readonly ended: readonly TerminalState[] }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }

export type PlannedTest =
  | { readonly equals: unknown }
  | { readonly oneOf: readonly unknown[] }
  | { readonly above: number }
  | { readonly below: number }

/** Takes the place of a missing result. */
export interface MissingResult {
  readonly code: string
  readonly detail: string
}
