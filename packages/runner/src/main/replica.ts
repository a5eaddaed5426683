/**
 * Starts the parts of a replica in order, and ends them. Each part depends only on parts above it; anything in the
 * other direction is a signal (signals.ts).
 *
 * Execution runs the code. Intake brings runs into execution. Liveness shows other replicas that this replica and its
 * runs are alive, and stops runs that must not continue. The fleet watch recovers runs of other replicas; maintenance
 * works for all replicas. A drain ends intake first and heartbeats last.
 */
import type { ReplicaRegistration } from '@q/store'
import type { TaskDescription } from '../protocol/messages.ts'
import type { RunnerConfig } from '../settings/config.ts'
import { createExchangeBuffer } from './claim/exchange-buffer.ts'
import { startIntake } from './claim/intake.ts'
import { createPrefetchBuffer } from './claim/prefetch-buffer.ts'
import { createRouteFinder } from './claim/task-routing.ts'
import type { Connections } from './connections.ts'
import { startDeliveries } from './deliver/start-deliveries.ts'
import { createDrain, type Drain } from './drain.ts'
import type { Observe } from './events.ts'
import { releaseHeld, releaseUnstarted as release, releaseWaiting, type ReleaseUnstarted } from './execute/release.ts'
import { createExecution } from './execution.ts'
import type { Executors } from './executors/start-executors.ts'
import { createFollowedDrain } from './followed-drain.ts'
import { createBeatStreak } from './liveness/beat-streak.ts'
import { createDatabaseClock } from './liveness/database-clock.ts'
import { startFleetWatch } from './liveness/fleet-watch.ts'
import { createHeldRuns } from './liveness/held-runs.ts'
import { createOwnPresence } from './liveness/own-presence.ts'
import { presenceTickMs } from './liveness/presence-watch.ts'
import { startReplicaLiveness } from './liveness/replica-liveness.ts'
import { startRunLiveness } from './liveness/run-liveness.ts'
import { startRunSpans } from './run-spans.ts'
import type { RunMonitors } from './liveness/run-monitors.ts'
import { beatIntervalMs, presenceFenceMs, replicaFenceMs } from './liveness/self-fence-limits.ts'
import { loopStarter, nowMs } from './loop.ts'
import { startMaintenance } from './maintenance/start-maintenance.ts'
import { createSignals } from './signals.ts'
import { createRecoveryCounter } from './stats/count-recovered.ts'
import { createExchangeMeter } from './stats/exchange-meter.ts'
import { createRunnerStats, type RunnerStats } from './stats/runner-stats.ts'
import { createCountFlusher } from './stats/flush-counts.ts'
import { createProcessStats } from './stats/process-stats.ts'
import { createRunCounts } from './stats/run-counts.ts'
import type { SlotStats } from './stats/slot-stats.ts'

export interface ReplicaParts {
  readonly config: RunnerConfig
  readonly observe: Observe
  readonly tasks: readonly TaskDescription[]
  /** Whether threads record spans. */
  readonly tracing: boolean
  /** Whether they also record a span for each run. */
  readonly tracesRuns: boolean
  readonly registration: ReplicaRegistration
  /** The number of its presence lock. */
  readonly num: number
  /** When its registration, which is its first heartbeat, was sent. */
  readonly bornMs: number
  readonly executors: Executors
  readonly slotStats: () => readonly SlotStats[]
  readonly runMonitors: RunMonitors
  readonly connections: Connections
  readonly databaseUrl: string
  readonly sessionUrl: string
  /** The value of an environment variable, for the secrets of destinations. */
  readonly env: (variable: string) => string | undefined
  readonly closeAll: () => Promise<void>
}

export interface WorkingReplica {
  readonly drain: Drain
  readonly stats: () => RunnerStats
}

export function startReplicaLoops(given: ReplicaParts): WorkingReplica {
  const { config, registration, connections } = given
  const { control } = connections
  const { id: replicaId } = registration
  const state = createState(given)
  const spans = given.tracesRuns
    ? startRunSpans({ ...given, ...connections, ...state, replicaId, feeds: given.executors.threads.feeds })
    : undefined
  const parts = { ...given, observe: spans?.observe ?? given.observe }
  const shared = { ...parts, ...connections, ...state, replicaId }
  const { signals, left } = state

  const { hostname, pid } = registration
  const dispatch = createExecution({ ...shared, hasLeft: left.signal, host: { hostname, pid } })
  const { slots } = dispatch
  const releaseUnstarted: ReleaseUnstarted = (runs) => release(shared, runs)
  const intake = startIntake({
    ...shared,
    tasks: registration.tasks,
    dispatch,
    releaseUnstarted,
    canBeWoken: state.presence.isHeld,
  })
  const sender = { replicaId, hostname, pid }
  const runLiveness = startRunLiveness({
    ...shared,
    sender,
    dispatch,
    relieveThreads: intake.relieve,
    forgetStarted: intake.forgetStarted,
  })
  const replicaLiveness = startReplicaLiveness({
    ...shared,
    sender,
    slots,
    beatEveryMs: beatIntervalMs(config.preset.thresholds),
    checkForCancels: runLiveness.checkForCancels,
    releaseWaiting: () => releaseWaiting({ ...shared, dispatch, releaseUnstarted }),
  })
  const fleetWatch = startFleetWatch({ ...shared, failSession: replicaLiveness.failSession })
  const maintenance = startMaintenance(shared)
  const deliveries = startDeliveries({ ...shared, canBeWoken: state.presence.isHeld })
  const flusher = createCountFlusher(shared)
  const flushing = shared.startLoop('flush-counts', flusher.tick)
  const drain = createDrain({
    ...shared,
    slots,
    drainMs: config.drainMs,
    stopGraceMs: config.stopGraceMs,
    pauseIntake: intake.pause,
    resumeIntake: intake.resume,
    announce: (deadlineMs) => control.announceLeaving(replicaId, { deadlineMs }),
    leaveIfOrdered: (finished) => control.leaveIfOrdered(replicaId, { finished }),
    stopIntake: intake.stop,
    stopWatching: () => Promise.all([fleetWatch.stop(), maintenance.stop(), deliveries.stop()]),
    releaseUnstarted: () => releaseHeld({ ...shared, releaseUnstarted }),
    stopBeats: () => Promise.all([runLiveness.stop(), replicaLiveness.stop()]),
    async flushCounts() {
      await flushing.stop()
      await flusher.flush()
      await spans?.stop()
    },
    retire: () => control.retireReplica(replicaId),
    closeSession: replicaLiveness.closeSession,
    closeAll() {
      left.abort(new Error('The replica has left.'))
      return parts.closeAll()
    },
  })
  signals.connect({ drainOrdered: drain.onOrder, programTooOld: drain.tooOld })
  return { drain, stats: createRunnerStats({ ...shared, slots, threads: parts.executors.threads }) }
}

/** The state that several parts share; created before all of them. */
function createState({ config, observe, bornMs, connections, registration }: ReplicaParts) {
  const { thresholds } = config.preset
  const signals = createSignals()
  const presence = createOwnPresence()
  const beats = createBeatStreak(beatIntervalMs(thresholds), bornMs)
  const processStats = createProcessStats(config)
  const counts = createRunCounts({ version: registration.version, count: processStats.count })
  return {
    signals,
    presence,
    beats,
    presenceStreak: createBeatStreak(3 * presenceTickMs),
    databaseClock: createDatabaseClock(),
    heldRuns: createHeldRuns(),
    prefetched: createPrefetchBuffer(config.prefetch),
    exchangeBuffer: createExchangeBuffer(signals.wakeClaim),
    exchangeMeter: createExchangeMeter(),
    processStats,
    counts,
    countRecovered: createRecoveryCounter(connections.store, counts),
    followed: createFollowedDrain(nowMs),
    routeOf: createRouteFinder(connections.store, nowMs),
    startLoop: loopStarter((loop, error, retryInMs) => observe({ type: 'loop-failed', loop, error, retryInMs })),
    /**
     * After this time without an accepted heartbeat, the replica stops its runs, and begins none until a heartbeat is
     * accepted.
     */
    isCutOff: () =>
      beats.silentForMs(nowMs()) > replicaFenceMs(thresholds) ||
      (presence.exposedForMs(nowMs()) ?? 0) > presenceFenceMs(config.presenceGraceMs),
    /** Aborts when the replica has left. */
    left: new AbortController(),
    nowMs,
  }
}
