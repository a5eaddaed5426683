/**
 * What a task may say about itself. All of it is data but `input`: replicas publish it (option-data.ts), so that
 * producers which never load this code enqueue with the right queue, keys and limits.
 *
 * Law: nothing is executed a second time unless the task says so, by `retry` or by `onCrash: 'retry'`.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from './duration.ts'
import type { PointerInto } from './pointer.ts'
import type { ScheduleOptions } from './schedule-options.ts'
import type { DebounceOptions, ThrottleOptions } from './window-options.ts'

/** The function says what the payload is; a key is held against it, and says nothing about it. */
export type KeyIn<Payload> = NoInfer<PointerInto<Payload>>

/** `Payload`: what is enqueued, which is what keys point into. */
export interface TaskOptions<Payload = unknown> extends ScheduleOptions {
  /** What the task is called in the database, if not by its export: `'images.resize'`. Survives a renamed export. */
  readonly name?: string
  /** Checks and types the payload, before the code is started. Any Standard Schema: zod, valibot, arktype. */
  readonly input?: StandardSchemaV1
  /** The line its runs wait in. Default: `default`. */
  readonly queue?: string
  /** Lower numbers first; default 0. */
  readonly priority?: number
  /** What a replica must be able to do (`Q_CAPABILITIES`) to run it. */
  readonly requires?: readonly string[]
  /** What happens to a run whose replica dies while it runs. Default: what the replica's preset says, normally `fail`. */
  readonly onCrash?: 'fail' | 'retry'
  /** Where the code runs: on a worker thread (default), or in a process of its own that may crash and run out of memory alone. */
  readonly isolation?: 'thread' | 'process'
  /** Whether the code gets the URL of the database of its run, `ctx.databaseUrl`. Default: false. */
  readonly database?: boolean
  /** With `isolation: 'process'`: how much memory that process may use. */
  readonly memoryLimitMb?: number
  /**
   * The most runs of this task that a replica hands to one thread together, the executing one included; 1 switches
   * start-ahead off. Default: what `Q_START_AHEAD_RETRY_MAX` or `Q_START_AHEAD_FAIL_MAX` of the replica allows.
   */
  readonly startAhead?: number
  /** Longest time one attempt may take, from when a thread takes it. Then it is stopped, and FAILED `TIMEOUT`. */
  readonly timeout?: Duration
  /** Longest time without a heartbeat(), progress or log line. Then it is stopped, and FAILED `SILENT`. */
  readonly maxSilent?: Duration
  /** When the code throws, or ran out of time: how often, and how long between. Default: not again. */
  readonly retry?: RetryOptions
  /** At most `limit` runs with the same value at `key` of their payload at a time. */
  readonly concurrency?: ConcurrencyOptions<Payload>
  /** At most one run with the same payload, or the same value in it, waits or runs; or one in a period. */
  readonly unique?: 'payload' | KeyIn<Payload> | UniqueOptions<Payload>
  /** The first enqueue in a window counts; the others are that run. */
  readonly throttle?: ThrottleOptions<Payload>
  /** The last enqueue in a window counts; what waits becomes what it asks for. */
  readonly debounce?: DebounceOptions<Payload>
  /** No attempt begins later than this after the enqueue: EXPIRED. */
  readonly expires?: Duration
  /** How long a run is kept after its end. */
  readonly keep?: Duration
  /** With `cron` or `every`: what its runs are given. Default: `{}`. */
  readonly payload?: unknown
}

export interface RetryOptions {
  /** Starts of the code in all; 1 is not again. */
  readonly attempts: number
  /** Default: exponential, doubled every time. Both with jitter. */
  readonly backoff?: 'exponential' | 'fixed'
  /** Before the second attempt. Default: 1s. */
  readonly delay?: Duration
  /** Never longer than this. Default: 1h. */
  readonly maxDelay?: Duration
}

export interface ConcurrencyOptions<Payload = unknown> {
  readonly key: KeyIn<Payload>
  /** Default: 1. */
  readonly limit?: number
  /** Tasks that name the same are limited together. Default: the task alone. */
  readonly shared?: string
}

export interface UniqueOptions<Payload = unknown> {
  readonly key: 'payload' | KeyIn<Payload>
  /** Also after its end, for this long from when it was enqueued. */
  readonly for: Duration
}

export const defaultQueue = 'default'
