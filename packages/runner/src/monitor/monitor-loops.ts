/**
 * The loops of a monitor: its heartbeat, and the look for stale runs. A heartbeat ends before the next one begins. The end
 * of the monitor is a list: no new heartbeat, runs released, connection closed.
 */
import type { HealthStatus, HeartbeatData, Store } from '@q/store'
import { createBeatStreak } from '../main/liveness/beat-streak.ts'
import { createDatabaseClock } from '../main/liveness/database-clock.ts'
import { reapTick } from '../main/liveness/reap.ts'
import { after, loopStarter, nowMs, type Loop, type Next } from '../main/loop.ts'
import { beatInMs } from '../main/stats/health.ts'
import { errorMessage } from '../output/error-message.ts'
import type { ActiveTasks } from './active-tasks.ts'
import { withAttempts } from './attempts.ts'
import type { HeartbeatConfig, MonitorSettings } from './config.ts'
import { createDeliveries } from './deliveries.ts'
import { createFailures } from './failures.ts'
import { createReplicaBeat, registrationOf, type ReplicaBeat, type Worker } from './replica-beat.ts'
import { openDestinations } from './open-destinations.ts'

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

const database = 'database'
const detection = 'stale detection'

export function startMonitorLoops(parts: MonitorParts): MonitorLoops {
  const { config, settings, store, worker } = parts
  const { onAlert = () => {}, warn = warnProcess } = config
  const destinations = openDestinations(config.destinations ?? [], parts.githubRepo, parts.tasks.issueOf)
  if (parts.githubRepo !== '' && process.env['GITHUB_TOKEN'] === undefined)
    warn(`heartbeats of ${worker.name} are not shown in ${parts.githubRepo}: GITHUB_TOKEN is not set`)
  const stopping = new AbortController()
  const first = Promise.withResolvers<void>()
  const retry = { attempts: settings.retryAttempts, delayMs: settings.retryDelayMs, signal: stopping.signal }
  const failures = createFailures({
    workerId: worker.name,
    nowMs,
    onAlert(alert) {
      warn(`${worker.name}: three failures in a row (${alert.destination}): ${alert.error}`)
      onAlert(alert)
      deliveries.alert(alert)
    },
  })
  const deliveries = createDeliveries(destinations, retry, failures)
  const startLoop = loopStarter((loop, error) =>
    warn(`the loop "${loop}" failed and is tried again: ${errorMessage(error)}`),
  )
  const replica = store === undefined ? undefined : inDatabase(parts, store)
  if (replica === undefined) warn(withoutDatabase(worker.name, destinations.length))

  async function tick(): Promise<Next> {
    const heartbeat = parts.heartbeat()
    deliveries.send(heartbeat)
    if (store !== undefined && replica !== undefined) await toDatabase(store, replica.beat, heartbeat)
    first.resolve()
    return after(beatInMs(parts.health(), settings.heartbeatIntervalMs))
  }

  async function toDatabase(of: Store, beat: ReplicaBeat, heartbeat: HeartbeatData): Promise<void> {
    try {
      await withAttempts(retry, () => beat.send(heartbeat))
      failures.succeeded(database)
      await failures.flush((some) => of.recordHeartbeatFailures(worker.id, some))
    } catch (error) {
      if (!stopping.signal.aborted) failures.failed(database, error)
    }
  }

  /** Failed looks are reported like failed heartbeats, and repeated after the interval. */
  async function detect(look: () => Promise<Next>): Promise<Next> {
    try {
      const next = await look()
      failures.succeeded(detection)
      return next
    } catch (error) {
      failures.failed(detection, error)
      return after(settings.detectionIntervalMs)
    }
  }

  const loops: Loop[] = [startLoop('heartbeat', tick)]
  if (replica !== undefined) loops.push(startLoop(detection, () => detect(replica.detect)))

  return {
    first: first.promise,
    isDraining: () => replica?.beat.isDraining() ?? false,
    async stop() {
      stopping.abort()
      await Promise.all(loops.map((loop) => loop.stop()))
      try {
        await replica?.beat.leave()
      } finally {
        await deliveries.settled()
        await Promise.all(destinations.map(async (destination) => destination.close?.()))
        await parts.close()
      }
    },
  }
}

/** What the database adds: registration and heartbeats, and the reaper that every replica has. */
function inDatabase({ config, settings, worker, tasks }: MonitorParts, store: Store) {
  const { onLost = () => {}, onCancelled = () => {}, onRecovered = () => {} } = config
  const { staleThresholdMs, detectionIntervalMs, heartbeatIntervalMs } = settings
  const streak = createBeatStreak(heartbeatIntervalMs)
  const databaseClock = createDatabaseClock()
  const registration = registrationOf(worker, settings)
  const beat = createReplicaBeat({ store, registration, tasks, streak, databaseClock, nowMs, onLost, onCancelled })
  const detect = () =>
    reapTick({
      control: store,
      store,
      replicaId: worker.id,
      checkEveryMs: detectionIntervalMs,
      states: ['CLAIMED', 'RUNNING'],
      unbrokenMs: () => streak.unbrokenForMs(nowMs()),
      sharedMsMax: () => databaseClock.sinceStepMs(nowMs()),
      clockMsMin: () => databaseClock.earliestMs(nowMs()),
      clockMsMax: () => databaseClock.latestMs(nowMs()),
      unbrokenMsMin: staleThresholdMs,
      observe: () => {},
      onRecovered: async (ids) => onRecovered(ids),
    })
  return { beat, detect }
}

function withoutDatabase(name: string, destinations: number): string {
  const reports = destinations === 0 ? 'it reports to no one' : `it only reports to ${destinations} destinations`
  return `HeartbeatMonitor ${name} has no database (config.store, or DATABASE_URL): ${reports}; nothing is fenced or recovered`
}

function warnProcess(sentence: string): void {
  process.emitWarning(sentence, 'HeartbeatMonitor')
}
