/**
 * Sends heartbeats for a process that executes tasks itself, without a runner: to the database and to destinations.
 * Also reports runs that the worker has lost, and recovers runs of dead workers.
 *
 * A failed heartbeat never stops the worker. Without a database there is neither fencing nor recovery: the monitor then
 * only sends heartbeats to destinations, and warns about it.
 */
import { hostname } from 'node:os'
import { ExplainedError } from '@q/schema'
import {
  connect,
  createStore,
  type HealthStatus,
  type HeartbeatData,
  type PlainLease,
  type WorkerMetrics,
} from '@q/store'
import { newReplicaId } from '../main/identity.ts'
import { createActiveTasks, type ActiveTasks } from './active-tasks.ts'
import { readMonitorConfig, type HeartbeatConfig, type MonitorSettings } from './config.ts'
import { startMonitorLoops, type MonitorLoops } from './monitor-loops.ts'
import { createOwnMetrics, type OwnMetrics } from './own-metrics.ts'

/** A run under its lease, as a claim returns it, or the id of any task. */
export type ActiveTask = string | PlainLease

export class HeartbeatMonitor {
  /**
   * The holder id for runs that this worker claims: pass it to `claimAvailableTaskRuns`. Each monitor has a new one.
   */
  readonly replicaId: string = newReplicaId()
  readonly workerId: string
  readonly githubRepo: string
  readonly #config: HeartbeatConfig
  readonly #settings: MonitorSettings
  readonly #tasks: ActiveTasks = createActiveTasks()
  readonly #metrics: OwnMetrics = createOwnMetrics()
  #loops: MonitorLoops | undefined

  constructor(workerId: string, githubRepo: string, config: HeartbeatConfig = {}) {
    this.workerId = validName(workerId)
    this.githubRepo = githubRepo
    this.#config = config
    this.#settings = readMonitorConfig(config, githubRepo)
  }

  /**
   * Sends the first heartbeat, and then one per interval. Resolves when the first was accepted or all its tries have
   * failed.
   */
  async start(): Promise<void> {
    this.#loops ??= this.#open()
    await this.#loops.first
  }

  /** Releases the runs that the worker still holds, then stops. Rejects if the database does not answer: they become stale. */
  async stop(): Promise<void> {
    const loops = this.#loops
    this.#loops = undefined
    await loops?.stop()
  }

  /** `issue`: the issue of the GitHub repository on which heartbeats of this task are shown. */
  addTask(task: ActiveTask, { issue }: { readonly issue?: number } = {}): void {
    this.#tasks.add(task, issue === undefined ? undefined : String(issue))
  }

  removeTask(task: ActiveTask): void {
    this.#tasks.remove(task)
  }

  recordTaskCompletion(): void {
    this.#metrics.completed()
  }

  recordTaskFailure(): void {
    this.#metrics.failed()
  }

  getMetrics(): WorkerMetrics {
    return this.#metrics.read()
  }

  getHealthStatus(): HealthStatus {
    return this.#metrics.health()
  }

  /** Whether the worker was ordered to drain: it should claim nothing more. */
  isDraining(): boolean {
    return this.#loops?.isDraining() ?? false
  }

  #open(): MonitorLoops {
    const config = this.#config
    const url = config.databaseUrl ?? process.env['DATABASE_URL'] ?? ''
    const connection = config.store === undefined && url !== '' ? connect(url, { purpose: 'control' }) : undefined
    const store = config.store ?? (connection && createStore(connection.db))
    return startMonitorLoops({
      config,
      settings: this.#settings,
      store,
      worker: {
        id: this.replicaId,
        name: this.workerId,
        version: 'external',
        host: { hostname: hostname(), pid: process.pid },
        onCrash: config.onCrash ?? 'fail',
        tasks: config.tasks ?? [],
        queues: config.queues ?? [],
      },
      tasks: this.#tasks,
      githubRepo: this.githubRepo,
      heartbeat: () => this.#heartbeat(),
      health: () => this.#metrics.health(),
      close: async () => connection?.close(),
    })
  }

  #heartbeat(): HeartbeatData {
    const ids = this.#tasks.ids()
    return {
      worker_id: this.workerId,
      timestamp: Date.now(),
      health_status: this.#metrics.health(),
      current_tasks: ids,
      capacity_available: Math.max(0, this.#settings.capacity - ids.length),
      metrics: this.#metrics.read(),
    }
  }
}

/** Checks the id, which becomes part of keys and comments. */
function validName(workerId: string): string {
  if (/^[\w.-]{1,100}$/.test(workerId)) return workerId
  throw new ExplainedError({
    code: 'WORKER_ID_INVALID',
    what: `"${workerId.slice(0, 100)}" cannot be the id of a worker.`,
    why: 'It becomes part of keys and comments: 1 to 100 letters, digits, dots, hyphens and underscores.',
    fix: 'Use an id like worker-local-1.',
  })
}
