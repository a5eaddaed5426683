/**
 * A workflow as data: what a builder produces, what the store checks, writes and goes by. Pure: no clock, no SQL.
 *
 * A step is a run, to be. Where its payload needs what another step returned, the template has a hole; a hole makes the
 * other step a parent. `after` names further parents.
 */
import type { TerminalState } from '../task-states.ts'

export interface WorkflowPlan {
  readonly name: string
  /** What a step that ends badly, and that nobody tolerates, does to the others; default `fail`. */
  readonly onError?: 'fail' | 'pause' | 'continue'
  readonly steps: readonly StepPlan[]
  /** What the workflow returns; none: null. */
  readonly output?: Template
}

export type StepPlan = TaskStepPlan | MapStepPlan | WorkflowStepPlan

interface AnyStep {
  /** Unique in its workflow. */
  readonly name: string
  /** Parents beside those that holes name. */
  readonly after?: readonly string[]
  /** How many parents must have succeeded; default: all. */
  readonly join?: Join
  /** A parent's end is enough, whatever it was. */
  readonly allowFailed?: boolean
  /** Judged when its parents let it go; false: SKIPPED. */
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

/** One run of the task per element of a list; its result is the list of theirs. */
export interface MapStepPlan extends AnyStep {
  readonly kind: 'map'
  readonly task: string
  /** Of one item: holes may be `from: 'item'`. */
  readonly payload: Template
  readonly over: Hole
  /** Items under way at a time; none: all at once. */
  readonly parallel?: number
  /** `fail` (default): the map fails when an item did. `collect`: the place of such an item has its code and detail. */
  readonly onItemError?: 'fail' | 'collect'
  readonly options?: StepOptions
}

/** A workflow that is a step of this one; its result is that workflow's output. */
export interface WorkflowStepPlan extends AnyStep {
  readonly kind: 'workflow'
  readonly workflow: WorkflowPlan
  readonly input: Template
}

export interface Compensation {
  readonly task: string
  /** Holes may also name the step that is undone. */
  readonly payload: Template
  readonly options?: StepOptions
}

export type Join =
  | { readonly kind: 'all' }
  | { readonly kind: 'any' }
  | { readonly kind: 'quorum'; readonly of: number }

/** Of the runs of a step, where they are to differ from their task's. */
export interface StepOptions {
  readonly priority?: number
  readonly group?: string
  /** From the moment its parents let it go. */
  readonly delayMs?: number
  /** From the start of the workflow. */
  readonly expiresInMs?: number
  readonly timeoutMs?: number
  readonly maxSilentMs?: number
  readonly maxAttempts?: number
  readonly onCrash?: 'fail' | 'retry'
}

/** JSON with holes. `holes`: by JSON pointer into `value`, what belongs there; what `value` has there is replaced. */
export interface Template {
  readonly value: unknown
  readonly holes: Readonly<Record<string, Hole>>
}

/** `at`: a JSON pointer into the result, the workflow's input or the item; empty: the whole. */
export type Hole =
  | { readonly from: 'step'; readonly step: string; readonly at: string }
  | { readonly from: 'input'; readonly at: string }
  | { readonly from: 'item'; readonly at: string }

/** A result of a step that did not succeed is null here; `ended` asks how a parent ended. */
export type Condition =
  | { readonly value: Hole; readonly is: 'truthy' | 'falsy' | ValueTest }
  | { readonly step: string; readonly ended: readonly TerminalState[] }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }

export type ValueTest =
  | { readonly equals: unknown }
  | { readonly oneOf: readonly unknown[] }
  | { readonly above: number }
  | { readonly below: number }

/** What stands in the place of a result that there is not. */
export interface MissingResult {
  readonly code: string
  readonly detail: string
}
