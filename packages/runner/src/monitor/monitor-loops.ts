/**
 * The loops of a monitor: its heartbeat, and the search for stale runs. A heartbeat ends before the next one begins.
 * The monitor stops in order: no new heartbeat, release runs, close connections.
 */
import type { HealthStatus, HeartbeatData, Store } from '@q/store'
import { after, loopStarter, nowMs, type Loop, type Next } from '../main/loop.ts'
import { beatInMs } from '../main/stats/health.ts'
import { errorMessage } from '../output/error-message.ts'
import type { ActiveTasks } from './active-tasks.ts'
import type { HeartbeatConfig, MonitorSettings } from './config.ts'
import { createDeliveries } from './deliveries.ts'
import { createFailures } from './failures.ts'
import { createInDatabase } from './in-database.ts'
import { openDestinations } from './open-destinations.ts'
import type { Worker } from './replica-beat.ts'

export interface MonitorLoops {
  /** Resolves when the first heartbeat was accepted or has failed. */
  readonly first: Promise<void>
  isDraining(): boolean
  stop(): Promise<void>
}

export interface MonitorParts {
  readonly config: HeartbeatConfig
  readonly settings: MonitorSettings
  /** Undefined: there is no database. */
  readonly store: Store | undefined
  readonly worker: Worker
  readonly tasks: ActiveTasks
  /** `owner/name`; empty: none. */
  readonly githubRepo: string
  readonly heartbeat: () => HeartbeatData
  readonly health: () => HealthStatus
  readonly close: () => Promise<void>
}

export function startMonitorLoops(parts: MonitorParts): MonitorLoops {
  const { settings, store, worker } = parts
  const callbacks = callbacksOf(parts.config)
  const { warn } = callbacks
  const stopping = new AbortController()
  const retry = { attempts: settings.retryAttempts, delayMs: settings.retryDelayMs, signal: stopping.signal }
  const failures = createFailures({
    workerId: worker.name,
    nowMs,
    onAlert(alert, failing) {
      warn(`${worker.name}: three failures in a row (${alert.destination}): ${alert.error}`)
      callbacks.onAlert(alert)
      deliveries.alert(alert, failing)
    },
  })
  const destinations = openDestinations(parts.config.destinations ?? [], parts.githubRepo, parts.tasks.issueOf, warn)
  const deliveries = createDeliveries(destinations, retry, failures)
  const database = store && createInDatabase({ ...parts, store, callbacks, retry, failures })
  for (const sentence of missing(parts, destinations.length)) warn(sentence)

  const first = Promise.withResolvers<void>()
  async function tick(): Promise<Next> {
    const heartbeat = parts.heartbeat()
    deliveries.send(heartbeat)
    await database?.beat(heartbeat)
    first.resolve()
    return after(beatInMs(parts.health(), settings.heartbeatIntervalMs))
  }
  const startLoop = loopStarter((loop, error) => warn(`${loop} failed, and is tried again: ${errorMessage(error)}`))
  const loops: Loop[] = [
    startLoop('heartbeat', tick),
    ...(database === undefined ? [] : [startLoop('stale detection', database.detect)]),
  ]

  return {
    first: first.promise,
    isDraining: () => database?.isDraining() ?? false,
    async stop() {
      stopping.abort()
      await Promise.all(loops.map((loop) => loop.stop()))
      try {
        await database?.leave()
      } finally {
        await deliveries.settled()
        await Promise.all(destinations.map(async (destination) => destination.close?.()))
        await parts.close()
      }
    },
  }
}

type Callbacks = Required<Pick<HeartbeatConfig, 'onLost' | 'onCancelled' | 'onAlert' | 'onRecovered' | 'warn'>>

function callbacksOf({ onLost, onCancelled, onAlert, onRecovered, warn = warnProcess }: HeartbeatConfig): Callbacks {
  return {
    onLost: neverThrowing(onLost),
    onCancelled: neverThrowing(onCancelled),
    onAlert: neverThrowing(onAlert),
    onRecovered: neverThrowing(onRecovered),
    warn: neverThrowing(warn),
  }
}

/** Keeps an error of a callback from counting as a failed heartbeat. */
function neverThrowing<Given>(callback: (given: Given) => void = () => {}): (given: Given) => void {
  return (given) => {
    try {
      callback(given)
    } catch (error) {
      warnProcess(`a callback threw: ${errorMessage(error)}`)
    }
  }
}

/** The features that are unavailable with this configuration, one sentence each. */
function missing({ store, worker: { name }, githubRepo }: MonitorParts, destinations: number): string[] {
  const reports = destinations === 0 ? 'heartbeats are sent nowhere' : `it only reports to ${destinations} destinations`
  const noDatabase = `HeartbeatMonitor ${name} has no database (config.store, or DATABASE_URL): ${reports}; nothing is fenced or recovered`
  const noToken = `heartbeats of ${name} are not shown in ${githubRepo}: GITHUB_TOKEN is not set`
  return [
    ...(store === undefined ? [noDatabase] : []),
    ...(githubRepo !== '' && process.env['GITHUB_TOKEN'] === undefined ? [noToken] : []),
  ]
}

function warnProcess(sentence: string): void {
  process.emitWarning(sentence, 'HeartbeatMonitor')
}
