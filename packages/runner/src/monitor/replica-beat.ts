/**
 * Registers the worker in the database as a replica with its own thresholds, so the same reaper recovers its runs and
 * the same fences refuse its late writes. One call writes the heartbeats of the worker and of its runs, and reports
 * runs that are lost or to be cancelled. The worker has no session, so presence does not apply to it.
 */
import {
  externalPreset,
  type HeartbeatData,
  type Lease,
  type ReplicaRegistration,
  type ReplicaStats,
  type Store,
} from '@q/store'
import type { Host } from '../main/identity.ts'
import type { BeatStreak } from '../main/liveness/beat-streak.ts'
import type { DatabaseClock } from '../main/liveness/database-clock.ts'
import type { ActiveTasks } from './active-tasks.ts'
import type { MonitorSettings } from './config.ts'

export interface ReplicaBeatDeps {
  readonly store: Store
  readonly registration: ReplicaRegistration
  readonly tasks: ActiveTasks
  readonly streak: BeatStreak
  readonly databaseClock: DatabaseClock
  readonly nowMs: () => number
  readonly onLost: (task: string) => void
  readonly onCancelled: (task: string) => void
}

export interface ReplicaBeat {
  /** Rejects if the database did not accept it. */
  send(heartbeat: HeartbeatData): Promise<void>
  /** Releases the runs that the worker still holds, and ends the replica. */
  leave(): Promise<void>
  /** Whether it was ordered to drain: the worker should claim nothing more. */
  isDraining(): boolean
}

export function createReplicaBeat(deps: ReplicaBeatDeps): ReplicaBeat {
  const { store, registration, tasks } = deps
  const { id: replicaId, hostname, pid } = registration
  let isRegistered = false
  let draining = false

  async function register(): Promise<void> {
    await store.registerReplica(registration)
    isRegistered = true
  }

  async function beatReplica(heartbeat: HeartbeatData): Promise<void> {
    const sentMs = deps.nowMs()
    const answer = await store.upsertReplicaHeartbeat(replicaId, statsOf(heartbeat))
    const jumpedMs = deps.databaseClock.record({ clockMs: answer.clockMs, sentMs, receivedMs: deps.nowMs() })
    if (jumpedMs !== undefined) deps.streak.beatFailed()
    deps.streak.beatAccepted(sentMs)
    draining = answer.draining !== null
    if (!answer.known) await register()
  }

  async function beatRuns(leases: readonly Lease[]): Promise<void> {
    const sender = { replicaId, hostname, pid }
    const beats = leases.map((lease) => ({ lease, thread: null, ageMs: 0, progress: null, note: null }))
    const answers = await store.beatTaskRuns(sender, beats)
    for (const [index, lease] of leases.entries()) {
      const answer = answers[index]
      if (answer === 'cancelled') deps.onCancelled(lease.runId)
      if (answer !== 'lost' && answer !== 'ended') continue
      // The worker may have claimed the run again while the database answered.
      if (tasks.remove(lease) && answer === 'lost') deps.onLost(lease.runId)
    }
  }

  return {
    isDraining: () => draining,
    async send(heartbeat) {
      try {
        if (!isRegistered) await register()
        await beatReplica(heartbeat)
        if (tasks.ids().length > 0) await beatRuns(tasks.leases(await store.heldTaskRuns(replicaId)))
      } catch (error) {
        deps.streak.beatFailed()
        throw error
      }
    },
    async leave() {
      await store.releaseTaskRuns(await store.heldTaskRuns(replicaId))
      await store.retireReplica(replicaId)
    },
  }
}

function statsOf({ health_status, current_tasks, capacity_available, metrics }: HeartbeatData): ReplicaStats {
  return {
    health: health_status,
    cpuPercent: metrics.cpu_usage,
    memoryMb: Math.round(metrics.memory_usage),
    activeRuns: current_tasks.length,
    freeSlots: capacity_available,
    completed: metrics.tasks_completed,
    failed: metrics.tasks_failed,
    uptimeS: metrics.uptime,
  }
}

export interface Worker extends Pick<ReplicaRegistration, 'id' | 'name' | 'version' | 'onCrash' | 'tasks' | 'queues'> {
  readonly host: Host
}

export function registrationOf(worker: Worker, settings: MonitorSettings): ReplicaRegistration {
  const { heartbeatIntervalMs: beatMs, staleThresholdMs: staleMs, detectionIntervalMs } = settings
  return {
    id: worker.id,
    name: worker.name,
    ...worker.host,
    version: worker.version,
    queues: worker.queues,
    tasks: worker.tasks,
    capabilities: [],
    slots: settings.capacity,
    preset: externalPreset,
    onCrash: worker.onCrash,
    thresholds: {
      replicaBeatMs: beatMs,
      replicaStaleMs: staleMs,
      checkEveryMs: detectionIntervalMs,
      claimerBeatMs: beatMs,
      claimerStaleMs: staleMs,
      runnerBeatMs: beatMs,
      runnerStaleMs: staleMs,
    },
  }
}
