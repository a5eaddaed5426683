/** The last heartbeat of each node as a message, with the runs that the node is executing. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { heartbeatData, type Beat, type HeartbeatData } from '../../heartbeats/heartbeat-data.ts'
import { isAlive } from '../../replicas/alive.ts'

export interface NodeHeartbeat {
  readonly replicaId: string
  readonly heartbeat: HeartbeatData
}

/** The most runs in a message; a node may hold more. */
const runsMax = 500

type Row = { readonly replicaId: string } & Pick<Beat, 'name' | 'atMs' | 'runIds'> & Beat['stats']

/** Undefined: no heartbeat of the node is stored. */
export async function nodeHeartbeat(db: Db, id: string): Promise<HeartbeatData | undefined> {
  const [found] = await heartbeatsWhere(db, sql`n.id = ${id}`)
  return found?.heartbeat
}

/** The last heartbeats of live nodes, oldest node first. */
export function nodeHeartbeats(db: Db): Promise<NodeHeartbeat[]> {
  return heartbeatsWhere(db, isAlive)
}

async function heartbeatsWhere(db: Db, which: ReturnType<typeof sql>): Promise<NodeHeartbeat[]> {
  const { rows } = await sql<Row>`
SELECT n.id AS "replicaId", n.name, (extract(epoch FROM h.last_heartbeat) * 1000)::float8 AS "atMs", h.health,
  h.cpu_percent AS "cpuPercent", h.memory_mb AS "memoryMb", h.free_slots AS "freeSlots", h.completed::float8 AS completed,
  h.failed::float8 AS failed, h.uptime_s AS "uptimeS",
  ARRAY(SELECT r.id::text FROM q.task_run r WHERE r.held AND r.replica_id = n.id AND r.status = 'RUNNING'
    ORDER BY r.id LIMIT ${runsMax}::int) AS "runIds"
FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
WHERE ${which} ORDER BY n.started_at, n.num`.execute(db)
  return rows.map(({ replicaId, name, atMs, runIds, ...stats }) => ({
    replicaId,
    heartbeat: heartbeatData({ name, atMs, runIds, stats }),
  }))
}
