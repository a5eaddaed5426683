/**
 * Registers workers over HTTP as replicas with their own thresholds, so that the same reaper recovers their runs.
 * Workers have no session, so presence does not apply: only heartbeats show that a worker is alive.
 *
 * The id of the replica contains the name of the token, so a token can only reach workers that it registered.
 */
import { externalPreset, type HeartbeatAnswer, type ReplicaRegistration, type Store } from '@q/store'
import { optionData } from '@q/task'
import type { Claim, WorkerStats } from '../../api/work.ts'
import type { Identity } from '../../auth/identify.ts'
import { wrongParameters } from '../../http/refusal.ts'

export interface HttpWorkers {
  /** Registers the worker if it is new or has changed, and sends its heartbeat. */
  present(replicaId: string, claim: Claim): Promise<{ readonly name: string; readonly draining: boolean }>
  /** The heartbeat of a worker between claims. */
  beat(replicaId: string, stats?: WorkerStats): Promise<HeartbeatAnswer>
  leave(replicaId: string): Promise<void>
  /** The worker as a place of execution, for the history of its runs. */
  hostOf(replicaId: string): WorkerHost
}

export interface WorkerHost {
  readonly hostname: string
  readonly pid: number
}

interface Known {
  readonly as: string
  readonly name: string
  readonly slots: number
  readonly host: WorkerHost
}

const knownMax = 10_000

export function replicaIdOf(who: Identity, workerId: string): string {
  return `${who.name}:${workerId}`
}

export function createWorkers(store: Store, version: string): HttpWorkers {
  /** Workers that this server has registered; another server may have registered the same worker. */
  const known = new Map<string, Known>()

  async function beat(replicaId: string, given: WorkerStats = {}): Promise<HeartbeatAnswer> {
    const held = (await store.heldTaskRuns(replicaId)).length
    const { healthStatus = 'healthy', cpuPercent = 0, memoryMb = 0, completed = 0, failed = 0, uptimeS = 0 } = given
    return store.upsertReplicaHeartbeat(replicaId, {
      health: healthStatus,
      cpuPercent,
      memoryMb: Math.round(memoryMb),
      activeRuns: held,
      freeSlots: Math.max(0, (known.get(replicaId)?.slots ?? held) - held),
      completed,
      failed,
      uptimeS: Math.round(uptimeS),
    })
  }

  async function register(replicaId: string, claim: Claim): Promise<void> {
    requireThresholds(claim)
    await publish(store, replicaId, claim)
    const { name } = await store.registerReplica(registrationOf(replicaId, claim, version))
    known.delete(replicaId)
    if (known.size >= knownMax) known.delete(known.keys().next().value ?? '')
    known.set(replicaId, { as: identityOf(claim), name, slots: claim.slots, host: hostIn(claim) })
  }

  return {
    beat,
    hostOf: (replicaId) => known.get(replicaId)?.host ?? hostIn({}),
    async present(replicaId, claim) {
      if (known.get(replicaId)?.as !== identityOf(claim)) await register(replicaId, claim)
      let answer = await beat(replicaId, claim.stats)
      if (!answer.known) {
        await register(replicaId, claim)
        answer = await beat(replicaId, claim.stats)
      }
      return { name: known.get(replicaId)?.name ?? claim.workerId, draining: answer.draining !== null }
    },
    async leave(replicaId) {
      known.delete(replicaId)
      await store.retireReplica(replicaId)
    },
  }
}

/** The members that a new registration could change. */
function identityOf({ stats: _, limit: __, start: ___, ...registered }: Claim): string {
  return JSON.stringify(registered)
}

function hostIn({ hostname = 'unknown', pid = 0 }: Pick<Claim, 'hostname' | 'pid'>): WorkerHost {
  return { hostname, pid }
}

function requireThresholds({ beatEveryMs, staleAfterMs }: Claim): void {
  if (staleAfterMs >= 2 * beatEveryMs) return
  throw wrongParameters([{ at: 'staleAfterMs', problem: `must be at least twice beatEveryMs, ${2 * beatEveryMs}` }])
}

/** The name of a token may contain colons, the id of a worker has none. Empty: the replica is a runner. */
function tokenOf(replicaId: string): string {
  return replicaId.slice(0, Math.max(0, replicaId.lastIndexOf(':')))
}

/** A worker can publish new tasks, and change only tasks that workers of the same token have published. */
async function publish(store: Store, replicaId: string, { tasks }: Claim): Promise<void> {
  const publishers = new Map((await store.publishedTasks()).map(({ name, publishedBy }) => [name, publishedBy]))
  const own = tasks.flatMap((task) => {
    const { name, ...options } = typeof task === 'string' ? { name: task } : task
    const publisher = publishers.get(name)
    const mayChange = typeof task !== 'string' && publisher !== undefined && tokenOf(publisher) === tokenOf(replicaId)
    if (publisher !== undefined && !mayChange) return []
    const data = { ...optionData({}), ...options }
    return { name, queue: data.queue, options: data, payloadSchema: null }
  })
  await store.publishTasks(replicaId, own)
}

export function taskNames({ tasks }: Pick<Claim, 'tasks'>): string[] {
  return tasks.map((task) => (typeof task === 'string' ? task : task.name))
}

function registrationOf(replicaId: string, claim: Claim, version: string): ReplicaRegistration {
  const { beatEveryMs, staleAfterMs } = claim
  return {
    id: replicaId,
    name: claim.workerName ?? claim.workerId,
    ...hostIn(claim),
    version,
    queues: claim.queues,
    tasks: taskNames(claim),
    capabilities: claim.capabilities,
    slots: claim.slots,
    preset: externalPreset,
    onCrash: claim.onCrash,
    recovers: false,
    thresholds: {
      replicaBeatMs: beatEveryMs,
      replicaStaleMs: staleAfterMs,
      checkEveryMs: beatEveryMs,
      claimerBeatMs: beatEveryMs,
      claimerStaleMs: staleAfterMs,
      runnerBeatMs: beatEveryMs,
      runnerStaleMs: staleAfterMs,
    },
  }
}
