/**
 * Replicas, as people (nodes) and programs (discovery) look for them. No locks; one row per boot until it is pruned.
 * A node that neither stopped nor has a heartbeat is `stale`: it died long ago and never recorded its end.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { isAlive, isDraining } from '../../replicas/alive.ts'
import { nodeRows, type Node } from './node-view.ts'

/** Nodes that stopped are kept for a day; of them the newest are shown. */
const stoppedMax = 1_000

/** Oldest first; those that stopped only if asked for. */
export async function listNodes(db: Db, { stopped = false }: { readonly stopped?: boolean } = {}): Promise<Node[]> {
  if (!stopped) return nodeRows(db, sql`n.stopped_at IS NULL`, sql`n.started_at, n.num`)
  const shown = sql`
    (n.stopped_at IS NULL OR n.id IN (SELECT id FROM q.replica WHERE stopped_at IS NOT NULL ORDER BY stopped_at DESC LIMIT ${stoppedMax}::int))`
  return nodeRows(db, shown, sql`n.started_at, n.num`)
}

/**
 * The nodes that a text can mean, newest first: an id, a name, the beginning of an id, or part of a name, in this order. A
 * name means the living node that has it; earlier nodes with the name are found only when no living node has it.
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
  /** Its registered address, if any. */
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
