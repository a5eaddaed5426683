/**
 * Replicas, as people (nodes) and programs (discovery) look for them. No locks; one row per boot until it is pruned.
 * A node that neither stopped nor has a heartbeat any more is `stale`: it died long ago, and nobody has said so.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { OnDeadline } from '../replicas/drain-order.ts'
import { beatAgeMs, isAlive, isDraining, nodeState, type NodeState } from '../replicas/alive.ts'

export interface Node {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  readonly endpoint: string | null
  readonly capabilities: readonly string[]
  /** Empty: all. */
  readonly queues: readonly string[]
  /** Tasks it knows. */
  readonly tasks: readonly string[]
  readonly preset: string
  readonly state: NodeState
  readonly startedAt: Date
  readonly stoppedAt: Date | null
  readonly drainingAt: Date | null
  readonly drainingBy: string | null
  readonly drainDeadline: Date | null
  readonly drainOnDeadline: OnDeadline
  /** Since when its drain can no longer be undone. */
  readonly leavingAt: Date | null
  readonly slots: number
  /** From here on as of its last beat. */
  readonly freeSlots: number
  readonly activeRuns: number
  readonly completed: number
  readonly failed: number
  readonly health: 'healthy' | 'degraded' | 'unhealthy' | 'unknown'
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly uptimeS: number
  /** Null: no beat of it is kept. */
  readonly beatAgeMs: number | null
}

/** Oldest first; those that stopped only if asked for. */
export function listNodes(db: Db, { stopped = false }: { readonly stopped?: boolean } = {}): Promise<Node[]> {
  const nodes = nodeRows(db).orderBy('n.started_at').orderBy('n.num')
  return (stopped ? nodes : nodes.where('n.stopped_at', 'is', null)).execute()
}

/**
 * What a person means by a name, an id or the beginning of one: none, one, or all it could be, newest first. A name is
 * the living's: who had it before is found only when nobody alive has it.
 */
export async function findNode(db: Db, text: string): Promise<Node[]> {
  if (text === '') return []
  const candidates = await nodeRows(db)
    .where((e) => e.or([e('n.name', '=', text), sql<boolean>`starts_with(n.id, ${text})`]))
    .orderBy('n.started_at', 'desc')
    .execute()
  const exact = candidates.filter((node) => node.id === text)
  const named = candidates.filter((node) => node.name === text)
  const living = named.filter((node) => node.state === 'alive' || node.state === 'draining')
  return [exact, living, named, candidates].find((found) => found.length > 0) ?? []
}

export interface LiveReplica {
  readonly id: string
  readonly name: string
  /** Where it can be reached, if it said so. */
  readonly endpoint: string | null
  readonly capabilities: readonly string[]
  /** It still answers, but is about to leave. */
  readonly draining: boolean
}

/** Discovery: who is alive now, has the capability, and where; those that stay before those that leave. */
export function liveReplicas(db: Db, { capability }: { readonly capability?: string } = {}): Promise<LiveReplica[]> {
  return db
    .selectFrom('q.replica as n')
    .innerJoin('q.replica_heartbeat as h', 'h.replica_id', 'n.id')
    .select(['n.id', 'n.name', 'n.endpoint', 'n.capabilities', isDraining.as('draining')])
    .where(isAlive)
    .$if(capability !== undefined, (live) => live.where(sql<boolean>`${capability} = ANY(n.capabilities)`))
    .orderBy('draining')
    .orderBy('n.started_at')
    .execute()
}

function nodeRows(db: Db) {
  return db
    .selectFrom('q.replica as n')
    .leftJoin('q.replica_heartbeat as h', 'h.replica_id', 'n.id')
    .select([
      'n.id',
      'n.name',
      'n.hostname',
      'n.pid',
      'n.version',
      'n.endpoint',
      'n.capabilities',
      'n.queues',
      'n.tasks',
    ])
    .select(['n.preset', 'n.slots', nodeState.as('state')])
    .select(['n.started_at as startedAt', 'n.stopped_at as stoppedAt', 'n.draining_at as drainingAt'])
    .select(['n.draining_by as drainingBy', 'n.drain_deadline as drainDeadline', beatAgeMs.as('beatAgeMs')])
    .select(['n.leaving_at as leavingAt', sql<OnDeadline>`n.drain_on_deadline`.as('drainOnDeadline')])
    .select([
      sql<Node['health']>`coalesce(h.health, 'unknown')`.as('health'),
      sql<number>`coalesce(h.free_slots, 0)`.as('freeSlots'),
      sql<number>`coalesce(h.active_runs, 0)`.as('activeRuns'),
      sql<number>`coalesce(h.completed, 0)::float8`.as('completed'),
      sql<number>`coalesce(h.failed, 0)::float8`.as('failed'),
      sql<number>`coalesce(h.cpu_percent, 0)`.as('cpuPercent'),
      sql<number>`coalesce(h.memory_mb, 0)`.as('memoryMb'),
      sql<number>`coalesce(h.uptime_s, 0)`.as('uptimeS'),
    ])
}
