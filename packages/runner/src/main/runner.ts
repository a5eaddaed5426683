/**
 * A replica: the composition root. The boot order is `startRunner`, read from top to bottom; the drain order is
 * drain.ts.
 *
 * Invariant: the first heartbeat is accepted before the first claim (registering sends it), and heartbeats stop last,
 * after the last run has settled.
 */
import type { ReplicaRegistration, Store } from '@q/store'
import type { RunnerConfig } from '../settings/config.ts'
import type { TaskDescription } from '../protocol/messages.ts'
import { checkDescription, loadDescription } from './load-task-descriptions.ts'
import { openConnections } from './connections.ts'
import { declareDestinations } from './deliver/declare-destinations.ts'
import type { Departure } from './drain.ts'
import { neverThrows, type Observe } from './events.ts'
import { newReplicaId, thisHost } from './identity.ts'
import { nowMs } from './loop.ts'
import { createRunMonitors } from './liveness/run-monitors.ts'
import type { RunnerStats } from './stats/runner-stats.ts'
import { createSlotStats, type SlotStats } from './stats/slot-stats.ts'
import { publishConcurrencyLimits, publishTaskSchedules } from './execute/task-catalog.ts'
import { startReplicaLoops } from './replica.ts'
import { startExecutors } from './executors/start-executors.ts'

export interface Runner {
  readonly replicaId: string
  readonly name: string
  readonly tasks: readonly TaskDescription[]
  /** What every slot is doing. */
  threads(): readonly SlotStats[]
  /** The replica's counts and measurements, for metrics. */
  stats(): RunnerStats
  /**
   * Like SIGTERM: stops claiming, lets runs finish for `Q_DRAIN_MS`, then leaves. A second call sets the deadline to
   * now.
   */
  drain(): Promise<void>
  /** Resolves when the replica has left, for any reason. */
  readonly left: Promise<Departure>
}

export interface RunnerOptions {
  readonly databaseUrl: string
  /** Without a pooler in between; for presence and wakes. Default: `databaseUrl`. */
  readonly directUrl?: string
  readonly config: RunnerConfig
  readonly version: string
  /** file: URLs. */
  readonly taskModules: readonly string[]
  readonly observe: Observe
  /** A start that is retried passes the same id, so that it leaves one row. Default: a new id. */
  readonly replicaId?: string
  /** The address at which other programs reach it; registered for discovery. */
  readonly endpoint?: string
  /** The environment with the secrets of destinations. Default: the environment of this process. */
  readonly env?: (variable: string) => string | undefined
  /** Aborts when the replica must leave before it has started: the start then rejects, and nothing is registered. */
  readonly leaving?: AbortSignal
}

export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { config, databaseUrl, taskModules } = options
  const observe = neverThrows(options.observe)
  const runMonitors = createRunMonitors(config.threads)
  const connections = await openConnections(databaseUrl, config, observe)
  const executors = startExecutors(config, { taskModules, slotMemory: runMonitors.memory })
  let registered: string | undefined
  const closeAll = async () => {
    await executors.close()
    await connections.close()
  }
  try {
    const description = await loadDescription(executors.threads, options.leaving)
    const tasks = checkDescription(description)
    options.leaving?.throwIfAborted()
    executors.processes.keepWarm(tasks)
    const registration = registrationOf(options, tasks)
    const bornMs = nowMs()
    registered = registration.id
    const { name, num } = await connections.control.registerReplica(registration)
    await connections.store.publishTasks(registration.id, tasks)
    await publishConcurrencyLimits(connections.store, tasks)
    await publishTaskSchedules(connections.store, registration.id, tasks)
    await declareDestinations(connections.store, config.destinationsFile)
    const slotStats = createSlotStats({ slots: config.threads, runMonitors, nowMs })
    const { drain, stats } = startReplicaLoops({
      config,
      observe,
      tasks,
      tracing: description.tracing,
      tracesRuns: description.tracesRuns,
      registration,
      num,
      executors,
      bornMs,
      slotStats,
      runMonitors,
      connections,
      databaseUrl,
      sessionUrl: options.directUrl ?? databaseUrl,
      env: options.env ?? ((variable) => process.env[variable]),
      closeAll,
    })
    return {
      replicaId: registration.id,
      name,
      tasks,
      threads: slotStats,
      stats,
      left: drain.left,
      drain: async () => void (await drain.signal()),
    }
  } catch (error) {
    if (registered !== undefined) await retire(connections.control, registered)
    await closeAll()
    throw error
  }
}

/** After a failed start: marks the replica as stopped, if the database can be reached. */
async function retire(control: Store, replicaId: string): Promise<void> {
  const attempt = () => control.retireReplica(replicaId)
  // A second try uses a new connection: the first one may have broken with the others.
  await attempt()
    .catch(attempt)
    .catch(() => {})
}

function registrationOf(
  { config, version, endpoint, replicaId = newReplicaId() }: RunnerOptions,
  tasks: readonly TaskDescription[],
): ReplicaRegistration {
  return {
    id: replicaId,
    tasks: tasks.map((task) => task.name),
    capabilities: config.capabilities,
    name: config.name,
    ...thisHost(),
    version,
    ...(endpoint === undefined ? {} : { endpoint }),
    queues: config.queues,
    slots: config.threads,
    preset: config.presetName,
    onCrash: config.preset.onCrash,
    thresholds: config.preset.thresholds,
    presenceGraceMs: config.presenceGraceMs,
    recovers: config.autoRequeueStaleClaimed && config.autoFailStaleRunning,
  }
}
