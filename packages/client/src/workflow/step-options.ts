/** The options of a step, and their form in the plan. */
import type { PlannedJoin, StepOptions as PlannedOptions } from '@q/schema/workflow'
import { durationMs, type Duration } from '@q/task'
import type { When } from './condition.ts'
import type { AnyStep } from './ref.ts'

/** How many parents must succeed. */
export type Join = 'all' | 'any' | { readonly quorum: number }

/** Options of the step's runs that differ from those of the task. */
export interface StepRunOptions {
  readonly priority?: number
  readonly group?: string
  /** Counted from the time when its parents have ended. */
  readonly delay?: Duration
  /** If the step has not started after this time, counted from the start of the workflow, it ends EXPIRED. */
  readonly expires?: Duration
  readonly timeout?: Duration
  readonly maxSilent?: Duration
  /** The most starts of the code. */
  readonly attempts?: number
  readonly onCrash?: 'fail' | 'retry'
}

export interface GraphOptions<AllowFailed extends boolean = boolean, How extends Join = Join> {
  /** Unique in its workflow. Default: the name of the task or workflow; `compile 2` for the second one. */
  readonly name?: string
  /** Parents in addition to those whose results the step uses. */
  readonly after?: readonly AnyStep[]
  /** How many parents must succeed; default: all. The step does not wait for the others. */
  readonly join?: How
  /** The step starts when its parents have ended, in whatever state. */
  readonly allowFailed?: AllowFailed
  /** Evaluated when the parents have ended; if it does not hold, the step is SKIPPED. */
  readonly when?: When
}

export interface TaskStepOptions<AllowFailed extends boolean = boolean, How extends Join = Join>
  extends GraphOptions<AllowFailed, How>, StepRunOptions {}

export interface MapStepOptions<
  AllowFailed extends boolean = boolean,
  How extends Join = Join,
  Collect extends 'fail' | 'collect' = 'fail' | 'collect',
> extends TaskStepOptions<AllowFailed, How> {
  /** How many items may run at the same time; default: all. */
  readonly parallel?: number
  /** `fail` (default): the map fails if an item fails. `collect`: the list has code and detail of a failed item at its index. */
  readonly onItemError?: Collect
}

/** Whether the step can start without the success of all its parents, so that their results may be missing. */
export type IsLoose<AllowFailed extends boolean, How extends Join> = [AllowFailed, How] extends [false, 'all']
  ? false
  : true

export function plannedJoin(join: Join): PlannedJoin {
  return typeof join === 'object' ? { kind: 'quorum', of: join.quorum } : { kind: join }
}

export function plannedOptions(options: StepRunOptions): { readonly options?: PlannedOptions } {
  const { priority, group, delay, expires, timeout, maxSilent, attempts, onCrash } = options
  const planned: PlannedOptions = {
    ...(priority === undefined ? {} : { priority }),
    ...(group === undefined ? {} : { group }),
    ...(delay === undefined ? {} : { delayMs: durationMs(delay) }),
    ...(expires === undefined ? {} : { expiresInMs: durationMs(expires) }),
    ...(timeout === undefined ? {} : { timeoutMs: durationMs(timeout) }),
    ...(maxSilent === undefined ? {} : { maxSilentMs: durationMs(maxSilent) }),
    ...(attempts === undefined ? {} : { maxAttempts: attempts }),
    ...(onCrash === undefined ? {} : { onCrash }),
  }
  return Object.keys(planned).length === 0 ? {} : { options: planned }
}
