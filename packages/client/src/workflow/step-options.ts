/** What a step can be given beside its payload, and the same as the plan has it. */
import type { Join as PlannedJoin, StepOptions as PlannedOptions } from '@q/schema/workflow'
import { durationMs, type Duration } from '@q/task'
import type { When } from './condition.ts'
import type { AnyStep } from './ref.ts'

/** How many parents must have succeeded. */
export type Join = 'all' | 'any' | { readonly quorum: number }

/** Of the step's runs, where they are to differ from their task's. */
export interface StepRunOptions {
  readonly priority?: number
  readonly group?: string
  /** From the moment its parents let it go. */
  readonly delay?: Duration
  /** Not started by then, counted from the start of the workflow: EXPIRED. */
  readonly expires?: Duration
  readonly timeout?: Duration
  readonly maxSilent?: Duration
  /** Starts of the code in all. */
  readonly attempts?: number
  readonly onCrash?: 'fail' | 'retry'
}

export interface GraphOptions<AllowFailed extends boolean = boolean, How extends Join = Join> {
  /** Unique in its workflow. Default: that of the task or workflow; `compile 2` for the second one. */
  readonly name?: string
  /** Parents beside those whose results it is given. */
  readonly after?: readonly AnyStep[]
  /** How many of its parents must have succeeded; default: all. It does not wait for the others. */
  readonly join?: How
  /** The end of its parents is enough, whatever it was. */
  readonly allowFailed?: AllowFailed
  /** Judged when its parents let it go; if it does not hold the step is SKIPPED. */
  readonly when?: When
}

export interface TaskStepOptions<AllowFailed extends boolean = boolean, How extends Join = Join>
  extends GraphOptions<AllowFailed, How>, StepRunOptions {}

export interface MapStepOptions<
  AllowFailed extends boolean = boolean,
  How extends Join = Join,
  Collect extends 'fail' | 'collect' = 'fail' | 'collect',
> extends TaskStepOptions<AllowFailed, How> {
  /** Items under way at a time; default: all at once. */
  readonly parallel?: number
  /** `fail` (default): the map fails when an item did. `collect`: the place of such an item has its code and detail. */
  readonly onItemError?: Collect
}

/** Does it start without insisting on the success of all its parents? Then their results may be missing. */
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
