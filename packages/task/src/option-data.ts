/**
 * The options of a task as data, with all defaults and with durations in milliseconds. Replicas publish them in
 * `q.task.options` and use them themselves. Also derives the options of one run from them.
 */
import { durationMs, type Duration } from './duration.ts'
import { defaultQueue, type TaskOptions } from './options.ts'
import { keyAt } from './payload-keys.ts'
import { scheduleData, type ScheduleData } from './schedule-options.ts'
import {
  debounceData,
  throttleData,
  throttleDebounceSettings,
  type DebounceData,
  type ThrottleData,
  type ThrottleDebounceSettings,
} from './throttle-debounce.ts'

export interface OptionData {
  readonly queue: string
  readonly priority: number
  readonly requires: readonly string[]
  /** Null: the default of the replica's preset. */
  readonly onCrash: 'fail' | 'retry' | null
  readonly isolation: 'thread' | 'process'
  /** Whether the code gets the URL of the database. */
  readonly database: boolean
  readonly memoryLimitMb: number | null
  /** The most runs in one batch for a thread; null: what the replica's settings allow. */
  readonly startAhead: number | null
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  readonly retry: RetryData
  readonly concurrency: { readonly key: string; readonly limit: number; readonly shared: string | null } | null
  /** `key` is a JSON pointer; empty for the whole payload. `forMs` null: while a run waits or runs. */
  readonly unique: { readonly key: string; readonly forMs: number | null } | null
  readonly throttle: ThrottleData | null
  readonly debounce: DebounceData | null
  readonly expiresMs: number | null
  readonly keepMs: number | null
  /** The schedule that the task declares. */
  readonly schedule: (ScheduleData & { readonly payload: unknown }) | null
}

export interface RetryData {
  readonly attempts: number
  readonly backoff: 'exponential' | 'fixed'
  readonly delayMs: number
  readonly maxDelayMs: number
}

const retryDefaults: RetryData = { attempts: 1, backoff: 'exponential', delayMs: 1_000, maxDelayMs: 3_600_000 }

/** Converts options that `task()` has accepted. */
export function optionData(options: TaskOptions): OptionData {
  const { retry, concurrency } = options
  const time = scheduleData(options)
  return {
    queue: options.queue ?? defaultQueue,
    priority: options.priority ?? 0,
    requires: [...new Set(options.requires)].toSorted(),
    onCrash: options.onCrash ?? null,
    isolation: options.isolation ?? 'thread',
    database: options.database ?? false,
    memoryLimitMb: options.memoryLimitMb ?? null,
    startAhead: options.startAhead ?? null,
    timeoutMs: msOf(options.timeout),
    maxSilentMs: msOf(options.maxSilent),
    retry: {
      attempts: retry?.attempts ?? retryDefaults.attempts,
      backoff: retry?.backoff ?? retryDefaults.backoff,
      delayMs: msOf(retry?.delay) ?? retryDefaults.delayMs,
      maxDelayMs: msOf(retry?.maxDelay) ?? retryDefaults.maxDelayMs,
    },
    concurrency:
      concurrency === undefined
        ? null
        : { key: concurrency.key, limit: concurrency.limit ?? 1, shared: concurrency.shared ?? null },
    unique: uniqueData(options.unique),
    throttle: options.throttle === undefined ? null : throttleData(options.throttle),
    debounce: options.debounce === undefined ? null : debounceData(options.debounce),
    expiresMs: msOf(options.expires),
    keepMs: msOf(options.keep),
    schedule: time === undefined ? null : { ...time, payload: written(options.payload) },
  }
}

/** The options of one run that depend on its payload: keys and windows. */
export interface RunSettings extends ThrottleDebounceSettings {
  readonly priority: number
  readonly maxAttempts: number
  readonly onCrash?: 'fail' | 'retry'
  readonly concurrency?: { readonly scope: string; readonly key: string }
  readonly uniqueKey?: string
  readonly uniqueForMs?: number
  readonly expiresInMs?: number
}

/** `data` may come from another release; missing options have their defaults. */
export function runSettings(task: string, data: Partial<OptionData>, payload: unknown): RunSettings {
  const { priority = 0, retry = retryDefaults, onCrash = null, concurrency = null, unique = null } = data
  // A run whose payload lacks the value has no key and no limit.
  const key = concurrency === null ? undefined : keyAt(payload, concurrency.key)
  const uniqueKey = unique === null ? undefined : keyAt(payload, unique.key)
  const forMs = unique?.forMs ?? null
  const expiresInMs = data.expiresMs ?? null
  return {
    priority,
    maxAttempts: retry.attempts,
    ...(onCrash === null ? {} : { onCrash }),
    ...(key === undefined ? {} : { concurrency: { scope: concurrency?.shared ?? task, key } }),
    ...throttleDebounceSettings(data, payload),
    ...(expiresInMs === null ? {} : { expiresInMs }),
    ...(uniqueKey === undefined ? {} : { uniqueKey, ...(forMs === null ? {} : { uniqueForMs: forMs }) }),
  }
}

function written(payload: unknown): unknown {
  return payload === undefined ? {} : JSON.parse(JSON.stringify(payload))
}

function msOf(duration: Duration | undefined): number | null {
  return duration === undefined ? null : durationMs(duration)
}

function uniqueData(unique: TaskOptions['unique']): OptionData['unique'] {
  if (unique === undefined) return null
  const { key, forMs } =
    typeof unique === 'string' ? { key: unique, forMs: null } : { key: unique.key, forMs: durationMs(unique.for) }
  return { key: key === 'payload' ? '' : key, forMs }
}
