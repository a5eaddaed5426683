/**
 * Lists replicas, for people (nodes) and for programs (discovery). Takes no locks. There is one row per boot until it
 * is pruned. A node without a heartbeat that has not stopped is `stale`: it died long ago.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { isAlive, isDraining } from '../../replicas/alive.ts'
import { nodeRows, type Node } from './node-view.ts'

/** The most stopped nodes in a list, newest first. Their rows are kept for a day. */
const stoppedMax = 1_000

/** Oldest first; includes stopped nodes only on request. */
export async function listNodes(db: Db, { stopped = false }: { readonly stopped?: boolean } = {}): Promise<Node[]> {
  if (!stopped) return nodeRows(db, sql`n.stopped_at IS NULL`, sql`n.started_at, n.num`)
  const shown = sql`
    (n.stopped_at IS NULL OR n.id IN (SELECT id FROM q.replica WHERE stopped_at IS NOT NULL ORDER BY stopped_at DESC LIMIT ${stoppedMax}::int))`
  return nodeRows(db, shown, sql`n.started_at, n.num`)
}

/**
 * Finds nodes, newest first, by id, name, beginning of an id, or part of a name, in this order. A name means the living
 * node that has it; earlier nodes with the name are found only if no live node has it.
 */
export async function findNode(db: Db, text: string): Promise<Node[]> {
  if (text === '') return []
  const resembles = sql`(starts_with(n.id, ${text}) OR strpos(n.name, ${text}) > 0)`
  const candidates = await nodeRows(db, resembles, sql`n.started_at DESC`)
  const exact = candidates.filter((node) => node.id === text)
  const named = candidates.filter((node) => node.name === text)
  const begun = candidates.filter((node) => node.id.startsWith(text))
  const ranked = [exact, named.filter(isLiving), named, begun, candidates.filter(isLiving), candidates]
  return ranked.find((found) => found.length > 0) ?? []
}

function isLiving({ state }: Node): boolean {
  return state === 'alive' || state === 'draining'
}

export interface LiveReplica {
  readonly id: string
  readonly name: string
  /** The registered address, if any. */
  readonly endpoint: string | null
  readonly capabilities: readonly string[]
  /** Whether the replica is about to leave; it still answers. */
  readonly draining: boolean
}

/** Discovery: the live replicas with a capability, and their addresses; replicas that are about to leave come last. */
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
