/**
 * Reports the latest heartbeat of each live replica to a destination, at the destination's interval. A newer heartbeat
 * replaces the previous report, sent or not, under a new revision. A degraded or unhealthy replica is reported five
 * times as often, at most once a minute.
 *
 * Reports at most `limit` replicas per call, those with the oldest reports first.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { heartbeatData, type HealthStatus } from '../heartbeats/heartbeat-data.ts'
import { isAlive } from '../replicas/alive.ts'

export interface HeartbeatReportRequest {
  readonly destination: string
  readonly kind: 'heartbeat' | 'sample'
  readonly everyMs: number
  readonly limit: number
}

const runsMax = 100

/** Returns how many were reported; fewer than `limit` means that no other one is due. */
export async function reportHeartbeats(db: Db, request: HeartbeatReportRequest): Promise<number> {
  const replicas = latestOfEachName(await dueReplicas(db, request))
  if (replicas.length === 0) return 0
  const { destination, kind } = request
  const rows = replicas.map(({ runs, beatAtMs, name, reportNo: _, ...stats }) => {
    const heartbeat = heartbeatData({ name, atMs: beatAtMs, runIds: runs.map(({ runId }) => runId), stats })
    return { subject: subjectOf(kind, name), payload: kind === 'heartbeat' ? { heartbeat, runs } : heartbeat }
  })
  await sql`
INSERT INTO q.delivery AS d (destination, news, subject, payload)
SELECT ${destination}, ${kind}, g.subject, g.payload::jsonb
FROM unnest(${rows.map(({ subject }) => subject)}::text[], ${rows.map(({ payload }) => JSON.stringify(payload))}::text[]) AS g(subject, payload)
ON CONFLICT (destination, subject) DO UPDATE SET payload = excluded.payload, revision = d.revision + 1,
  created_at = clock_timestamp(), due_at = clock_timestamp(), delivered_at = NULL, attempts = 0, last_error = NULL`.execute(
    db,
  )
  return rows.length
}

/**
 * A replica that continues after a long silence may share its name with a replica that took it in the meantime. Rows
 * come in the order in which marking locks reports, so that the two cannot deadlock.
 */
function latestOfEachName(replicas: readonly DueReplica[]): DueReplica[] {
  const byBeat = replicas.toSorted((a, b) => a.beatAtMs - b.beatAtMs)
  const latest = new Map(byBeat.map((replica) => [replica.name, replica]))
  return [...latest.values()].toSorted((a, b) => (a.reportNo ?? Infinity) - (b.reportNo ?? Infinity))
}

function subjectOf(kind: string, name: string): string {
  return `replica/${name}/${kind}`
}

interface DueReplica {
  readonly name: string
  /** The id of the replica's last report. */
  readonly reportNo: number | null
  readonly beatAtMs: number
  readonly health: HealthStatus
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly freeSlots: number
  readonly completed: number
  readonly failed: number
  readonly uptimeS: number
  readonly runs: readonly { readonly runId: string }[]
}

async function dueReplicas(
  db: Db,
  { destination, kind, everyMs, limit }: HeartbeatReportRequest,
): Promise<DueReplica[]> {
  const { rows } = await sql<DueReplica>`
SELECT n.name, last.id::float8 AS "reportNo", (extract(epoch FROM h.last_heartbeat) * 1000)::float8 AS "beatAtMs", h.health, h.cpu_percent AS "cpuPercent",
  h.memory_mb AS "memoryMb", h.free_slots AS "freeSlots", h.completed::float8 AS completed, h.failed::float8 AS failed,
  h.uptime_s AS "uptimeS", coalesce(running.runs, '[]') AS runs
FROM q.destination d CROSS JOIN q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
LEFT JOIN q.delivery last ON last.destination = d.name AND last.subject = 'replica/' || n.name || ${`/${kind}`}
CROSS JOIN LATERAL (SELECT jsonb_agg(q.reported_run(r, d.settings) ORDER BY r.id) AS runs
  FROM (SELECT * FROM q.task_run r WHERE r.replica_id = n.id AND r.held AND r.status = 'RUNNING' ORDER BY r.id LIMIT ${runsMax}) r) running
WHERE d.name = ${destination} AND ${isAlive} AND (last.id IS NULL OR last.created_at < clock_timestamp() - interval '1 ms' *
  CASE WHEN h.health = 'healthy' THEN ${everyMs}::float8 ELSE least(${everyMs}::float8, greatest(60000, ${everyMs}::float8 / 5)) END)
ORDER BY last.created_at NULLS FIRST LIMIT ${limit}`.execute(db)
  return rows
}
