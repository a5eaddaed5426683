/** The settings of a monitor, in snake_case or camelCase. Every mistake is reported in one error. */
import { ExplainedError } from '@q/schema'
import type { RunId, Store } from '@q/store'
import type { MonitorAlert } from './failures.ts'
import type { HeartbeatDestination } from './deliveries.ts'
import type { ConfiguredDestination } from './sender-destination.ts'

interface Timing {
  /** Interval between heartbeats, in ms. Default: 5 minutes. Poor health shortens it. */
  readonly heartbeat_interval: number
  /** A worker whose last heartbeat is older than this counts as dead. Default: 10 minutes. */
  readonly stale_threshold: number
  /** Interval between searches for runs of dead workers. Default: 1 minute. */
  readonly detection_interval: number
  /** How many times to try one heartbeat. Default: 3. */
  readonly retry_attempts: number
  /** Pause between two tries, in ms. Default: 5 seconds. */
  readonly retry_delay: number
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Tail>}` : Name

type TimingInCamelCase = { readonly [Name in keyof Timing as CamelCase<Name>]: Timing[Name] }

export interface HeartbeatConfig extends Partial<Timing>, Partial<TimingInCamelCase> {
  /** The number of tasks that the worker can work on concurrently. Default: 5. */
  readonly capacity?: number
  /** The database: a store, or a URL. Default: `DATABASE_URL`. Without a database the monitor only sends heartbeats. */
  readonly store?: Store
  readonly databaseUrl?: string
  /** The tasks and queues that the worker serves, for people and for concurrency keys. Default: none, and all queues. */
  readonly tasks?: readonly string[]
  readonly queues?: readonly string[]
  /** Destinations of heartbeats, in addition to the database and the GitHub repository. */
  readonly destinations?: readonly (HeartbeatDestination | ConfiguredDestination)[]
  /** What happens to runs of this worker after its death, if neither run nor task sets it. Default: `fail`. */
  readonly onCrash?: 'fail' | 'retry'
  /** Called when the run was recovered, or claimed by another worker: stop working on it. */
  readonly onLost?: (task: string) => void
  /** Called when a cancel was requested: stop working on the run, and settle it as cancelled. */
  readonly onCancelled?: (task: string) => void
  /** Called when heartbeats to one destination failed three times in a row. */
  readonly onAlert?: (alert: MonitorAlert) => void
  /** Called with the runs of dead workers that this monitor recovered. */
  readonly onRecovered?: (runIds: readonly RunId[]) => void
  /** Called with a warning of one sentence. Default: `process.emitWarning`. */
  readonly warn?: (sentence: string) => void
}

export interface MonitorSettings {
  readonly heartbeatIntervalMs: number
  readonly staleThresholdMs: number
  readonly detectionIntervalMs: number
  readonly retryAttempts: number
  readonly retryDelayMs: number
  readonly capacity: number
}

const minuteMs = 60_000
/** Replicas delete heartbeats that are older than an hour. */
const timeMsMax = 3_600_000

/** `githubRepo`: `owner/name`; empty: none. */
export function readMonitorConfig(config: HeartbeatConfig, githubRepo = ''): MonitorSettings {
  const settings: MonitorSettings = {
    heartbeatIntervalMs: config.heartbeat_interval ?? config.heartbeatInterval ?? 5 * minuteMs,
    staleThresholdMs: config.stale_threshold ?? config.staleThreshold ?? 10 * minuteMs,
    detectionIntervalMs: config.detection_interval ?? config.detectionInterval ?? minuteMs,
    retryAttempts: config.retry_attempts ?? config.retryAttempts ?? 3,
    retryDelayMs: config.retry_delay ?? config.retryDelay ?? 5_000,
    capacity: config.capacity ?? 5,
  }
  const problems = [...repositoryProblems(githubRepo), ...problemsOf(settings)]
  if (problems.length === 0) return settings
  throw new ExplainedError({
    code: 'MONITOR_CONFIG_INVALID',
    what: 'The configuration of the heartbeat monitor is wrong.',
    why: `${problems.join('; ')}.`,
    fix: 'Correct these values; all times are in milliseconds.',
  })
}

function repositoryProblems(githubRepo: string): string[] {
  return githubRepo === '' || /^[a-z\d][a-z\d-]*\/[\w.-]+$/i.test(githubRepo)
    ? []
    : [`githubRepo is ${JSON.stringify(githubRepo)}, and must be "owner/name", or empty`]
}

function problemsOf(settings: MonitorSettings): string[] {
  const { heartbeatIntervalMs, staleThresholdMs, detectionIntervalMs } = settings
  const bounds: [name: string, value: number, least: number, most: number][] = [
    ['heartbeat_interval', heartbeatIntervalMs, 100, timeMsMax],
    ['stale_threshold', staleThresholdMs, 200, timeMsMax],
    ['detection_interval', detectionIntervalMs, 100, timeMsMax],
    ['retry_attempts', settings.retryAttempts, 1, 100],
    ['retry_delay', settings.retryDelayMs, 0, timeMsMax],
    ['capacity', settings.capacity, 1, 10_000],
  ]
  const outside = bounds.flatMap(([name, value, least, most]) =>
    Number.isSafeInteger(value) && value >= least && value <= most
      ? []
      : [`${name} is ${value}, and must be an integer from ${least} to ${most}`],
  )
  if (outside.length > 0) return outside
  const least = 2 * heartbeatIntervalMs
  return [
    ...(staleThresholdMs < least
      ? [`stale_threshold is ${staleThresholdMs}, and must be at least twice heartbeat_interval, ${least}`]
      : []),
    ...(detectionIntervalMs > staleThresholdMs
      ? [`detection_interval is ${detectionIntervalMs}, and must be at most stale_threshold, ${staleThresholdMs}`]
      : []),
  ]
}
