/** The history of a node: its stats over time, the heartbeats it could not send, and the gaps between heartbeats. */
import { sql } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'

export interface NodeSample {
  readonly at: Date
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly activeRuns: number
  readonly freeSlots: number
  readonly completed: number
  readonly failed: number
  readonly health: string
}

const hourMs = 3_600_000
const samplesMax = 2_000
const entriesMax = 50

/** Oldest first; the last hour by default. At most the newest 2 000. */
export async function nodeSamples(
  db: Db,
  replicaId: string,
  { sinceMs = hourMs }: { readonly sinceMs?: number } = {},
): Promise<NodeSample[]> {
  const { rows } = await sql<NodeSample>`
SELECT sampled_at AS at, cpu_percent AS "cpuPercent", memory_mb AS "memoryMb", active_runs AS "activeRuns",
  free_slots AS "freeSlots", completed::float8 AS completed, failed::float8 AS failed, health
FROM q.replica_sample
WHERE replica_id = ${replicaId} AND sampled_at > ${statementTime} - ${sinceMs}::float8 * interval '1 ms'
ORDER BY sampled_at DESC LIMIT ${samplesMax}::int`.execute(db)
  return rows.toReversed()
}

/** A failed heartbeat. */
export interface NodeHeartbeatFailure {
  readonly at: Date
  /** The number of consecutive failures, including this one. */
  readonly inARow: number
  readonly error: string
}

/** Newest first, at most 50. */
export async function listHeartbeatFailures(db: Db, replicaId: string): Promise<NodeHeartbeatFailure[]> {
  const { rows } = await sql<NodeHeartbeatFailure>`
SELECT failed_at AS at, consecutive AS "inARow", error FROM q.heartbeat_failure
WHERE replica_id = ${replicaId} ORDER BY failed_at DESC LIMIT ${entriesMax}::int`.execute(db)
  return rows
}

/** A time without a heartbeat that is longer than one and a half times the node's interval. */
export interface HeartbeatGap {
  readonly replicaId: string
  readonly name: string | null
  readonly lastBeat: Date
  readonly endedAt: Date
  readonly ms: number
}

/** Newest first, at most 50. */
export async function listHeartbeatGaps(db: Db, replicaId: string): Promise<HeartbeatGap[]> {
  const { rows } = await sql<HeartbeatGap>`
SELECT gap.replica_id AS "replicaId", n.name, gap.last_beat AS "lastBeat", gap.ended_at AS "endedAt",
  (extract(epoch FROM gap.ended_at - gap.last_beat) * 1000)::float8 AS ms
FROM q.beat_gap gap LEFT JOIN q.replica n ON n.id = gap.replica_id
WHERE gap.replica_id = ${replicaId} ORDER BY gap.last_beat DESC LIMIT ${entriesMax}::int`.execute(db)
  return rows
}
