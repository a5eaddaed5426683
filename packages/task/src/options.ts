/**
 * The options of a task. All but `input` are data: replicas publish them (option-data.ts), so that producers that never load
 * this code enqueue with the right queue, keys and limits.
 *
 * Invariant: no run is executed twice unless its task allows it with `retry` or `onCrash: 'retry'`.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from './duration.ts'
import type { PointerInto } from './pointer.ts'
import type { ScheduleOptions } from './schedule-options.ts'
import type { DebounceOptions, ThrottleOptions } from './throttle-debounce.ts'

/** Keeps the compiler from inferring the payload's type from a key: the function defines it, and the key is checked against it. */
export type KeyIn<Payload> = NoInfer<PointerInto<Payload>>

/** `Payload` is the enqueued value, which keys point into. */
export interface TaskOptions<Payload = unknown> extends ScheduleOptions {
  /** The name of the task in the database: `'images.resize'`. Default: the name of its export. */
  readonly name?: string
  /** Validates and types the payload before the code starts. Any Standard Schema: zod, valibot, arktype. */
  readonly input?: StandardSchemaV1
  /** The queue of its runs. Default: `default`. */
  readonly queue?: string
  /** Lower numbers run first. Default: 0. */
  readonly priority?: number
  /** Capabilities that a replica must have (`Q_CAPABILITIES`) to execute it. */
  readonly requires?: readonly string[]
  /** What happens to a run whose replica dies during the execution. Default: that of the replica's preset, normally `fail`. */
  readonly onCrash?: 'fail' | 'retry'
  /** Where the code runs: on a worker thread (default), or in its own process, so that a crash affects no other run. */
  readonly isolation?: 'thread' | 'process'
  /** Whether the code gets the URL of the database of its run, `ctx.databaseUrl`. Default: false. */
  readonly database?: boolean
  /** With `isolation: 'process'`: the memory limit of the process. */
  readonly memoryLimitMb?: number
  /**
   * The most runs of this task in one batch for a thread, including the executing one; 1 switches start-ahead off. Default:
   * what `Q_START_AHEAD_RETRY_MAX` or `Q_START_AHEAD_FAIL_MAX` of the replica allows.
   */
  readonly startAhead?: number
  /** The time limit of one attempt, counted from when its thread begins it. At the limit it is stopped: FAILED `TIMEOUT`. */
  readonly timeout?: Duration
  /** The longest time without heartbeat(), progress or log line. At the limit the run is stopped: FAILED `SILENT`. */
  readonly maxSilent?: Duration
  /** How often to retry after an error or a timeout, and how long to wait between attempts. Default: no retry. */
  readonly retry?: RetryOptions
  /** At most `limit` runs with the same value at `key` of the payload execute at the same time. */
  readonly concurrency?: ConcurrencyOptions<Payload>
  /** At most one run with the same payload, or the same value in it, waits or runs, or exists within a period. */
  readonly unique?: 'payload' | KeyIn<Payload> | UniqueOptions<Payload>
  /** The first enqueue in a window creates the run; later ones return it. */
  readonly throttle?: ThrottleOptions<Payload>
  /** The last enqueue in a window wins: it replaces the run that is waiting. */
  readonly debounce?: DebounceOptions<Payload>
  /** If no attempt has begun this long after the enqueue, the run ends EXPIRED. */
  readonly expires?: Duration
  /** How long a run is kept after its end. */
  readonly keep?: Duration
  /** With `cron` or `every`: the payload of the scheduled runs. Default: `{}`. */
  readonly payload?: unknown
}

export interface RetryOptions {
  /** The most attempts, including the first; 1 means no retry. */
  readonly attempts: number
  /** Default: exponential, doubled each time. Both have jitter. */
  readonly backoff?: 'exponential' | 'fixed'
  /** The wait before the second attempt. Default: 1s. */
  readonly delay?: Duration
  /** The longest wait. Default: 1h. */
  readonly maxDelay?: Duration
}

export interface ConcurrencyOptions<Payload = unknown> {
  readonly key: KeyIn<Payload>
  /** Default: 1. */
  readonly limit?: number
  /** Tasks with the same scope share the limit. Default: the task alone. */
  readonly shared?: string
}

export interface UniqueOptions<Payload = unknown> {
  readonly key: 'payload' | KeyIn<Payload>
  /** Keeps the key for this long after the enqueue, even if the run has ended. */
  readonly for: Duration
}

export const defaultQueue = 'default'
