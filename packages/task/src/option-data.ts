/**
 * A task's options as data, every default filled in and every duration in milliseconds: what replicas publish in
 * `q.task.options`, and what a replica itself goes by. And what they mean for one run of it.
 */
import { durationMs, type Duration } from './duration.ts'
import { defaultQueue, type TaskOptions } from './options.ts'
import { keyAt } from './payload-keys.ts'
import { scheduleData, type ScheduleData } from './schedule-options.ts'
import {
  debounceData,
  throttleData,
  windowSettings,
  type DebounceData,
  type ThrottleData,
  type WindowSettings,
} from './window-options.ts'

export interface OptionData {
  readonly queue: string
  readonly priority: number
  readonly requires: readonly string[]
  /** Null: what the preset of the replica says. */
  readonly onCrash: 'fail' | 'retry' | null
  readonly isolation: 'thread' | 'process'
  /** Whether its code gets the URL of the database. */
  readonly database: boolean
  readonly memoryLimitMb: number | null
  /** The most runs handed to one thread together; null: what the settings of the replica allow. */
  readonly startAhead: number | null
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  readonly retry: RetryData
  readonly concurrency: { readonly key: string; readonly limit: number; readonly shared: string | null } | null
  /** `key`: a JSON pointer; empty: the whole payload. `forMs`: null, while a run waits or runs. */
  readonly unique: { readonly key: string; readonly forMs: number | null } | null
  readonly throttle: ThrottleData | null
  readonly debounce: DebounceData | null
  readonly expiresMs: number | null
  readonly keepMs: number | null
  /** Its own: enqueued by the clock. */
  readonly schedule: (ScheduleData & { readonly payload: unknown }) | null
}

export interface RetryData {
  readonly attempts: number
  readonly backoff: 'exponential' | 'fixed'
  readonly delayMs: number
  readonly maxDelayMs: number
}

const retryDefaults: RetryData = { attempts: 1, backoff: 'exponential', delayMs: 1_000, maxDelayMs: 3_600_000 }

/** Of options that task() has accepted. */
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

/** What a published task says about one run of it, as far as the payload decides. */
export interface RunSettings extends WindowSettings {
  readonly priority: number
  readonly maxAttempts: number
  readonly onCrash?: 'fail' | 'retry'
  readonly concurrency?: { readonly scope: string; readonly key: string }
  readonly uniqueKey?: string
  readonly uniqueForMs?: number
  readonly expiresInMs?: number
}

/** `data` may come from another release: what it lacks has its default. */
export function runSettings(task: string, data: Partial<OptionData>, payload: unknown): RunSettings {
  const { priority = 0, retry = retryDefaults, onCrash = null, concurrency = null, unique = null } = data
  // A run without the value has no key, and is not limited by it.
  const key = concurrency === null ? undefined : keyAt(payload, concurrency.key)
  const uniqueKey = unique === null ? undefined : keyAt(payload, unique.key)
  const forMs = unique?.forMs ?? null
  const expiresInMs = data.expiresMs ?? null
  return {
    priority,
    maxAttempts: retry.attempts,
    ...(onCrash === null ? {} : { onCrash }),
    ...(key === undefined ? {} : { concurrency: { scope: concurrency?.shared ?? task, key } }),
    ...windowSettings(data, payload),
    ...(expiresInMs === null ? {} : { expiresInMs }),
    ...(uniqueKey === undefined ? {} : { uniqueKey, ...(forMs === null ? {} : { uniqueForMs: forMs }) }),
  }
}

/** As its runs will read it. */
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
