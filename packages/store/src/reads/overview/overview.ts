/** The whole system in a few figures. Takes no locks; the cost does not grow with backlog or history. */
import { sql } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import { nodeState } from '../../replicas/alive.ts'
import { bounded, countMax, countOf, sumOf, type Bounded } from '../bounded.ts'
import { laneCounts } from '../queues/lane-counts.ts'

export interface Overview {
  readonly at: Date
  /** Slots of live nodes, and how many of them execute a run now, counted from the runs themselves. */
  readonly slots: { readonly busy: number; readonly total: number }
  readonly nodes: { readonly alive: number; readonly draining: number; readonly stale: number }
  readonly ready: Bounded
  readonly running: number
  /** Rates of the last five complete minutes; null: nothing was recorded. */
  readonly succeededPerS: number | null
  readonly failedPerS: number | null
  /** Runs recovered as FAILED that no person has reviewed. */
  readonly toReview: Bounded
  /** Error groups that occurred in the last hour and are not muted. */
  readonly errorGroups: Bounded
}

interface OverviewRow {
  readonly at: Date
  readonly alive: number
  readonly draining: number
  readonly stale: number
  readonly busy: number
  readonly total: number
  readonly succeededPerS: number | null
  readonly failedPerS: number | null
  readonly toReview: number
  readonly errorGroups: number
}

export async function overview(db: Db): Promise<Overview> {
  const lanes = await laneCounts(db, { oldest: false })
  const most = sql`LIMIT ${countMax + 1}::int`
  const { rows } = await sql<OverviewRow>`
WITH nodes AS MATERIALIZED (
  SELECT ${nodeState} AS state, n.slots, least(n.slots, executing.runs) AS active FROM q.replica n
  LEFT JOIN q.replica_heartbeat h ON h.replica_id = n.id
  CROSS JOIN LATERAL (SELECT count(*)::int AS runs FROM q.task_run r WHERE r.held AND r.replica_id = n.id AND r.status = 'RUNNING') executing
  WHERE n.stopped_at IS NULL
)
SELECT ${statementTime} AS at, nodes.*, tally.*,
  ${countOf(sql`SELECT FROM q.recovery v WHERE v.became = 'FAILED' AND v.reviewed_at IS NULL ORDER BY v.id ${most}`)} AS "toReview",
  ${countOf(sql`SELECT FROM q.error_group e WHERE e.last_seen > ${statementTime} - interval '1 hour'
    AND (e.muted_until IS NULL OR e.muted_until <= ${statementTime}) ORDER BY e.last_seen ${most}`)} AS "errorGroups"
FROM (SELECT (count(*) FILTER (WHERE state = 'alive'))::int AS alive, (count(*) FILTER (WHERE state = 'draining'))::int AS draining,
    (count(*) FILTER (WHERE state = 'stale'))::int AS stale, coalesce(sum(active) FILTER (WHERE state <> 'stale'), 0)::int AS busy,
    coalesce(sum(slots) FILTER (WHERE state <> 'stale'), 0)::int AS total FROM nodes) nodes
CROSS JOIN (SELECT sum(succeeded)::float8 / 300 AS "succeededPerS", sum(failed)::float8 / 300 AS "failedPerS" FROM q.run_tally
  WHERE width_s = 60 AND bucket_at >= date_trunc('minute', ${statementTime}) - interval '5 minutes'
    AND bucket_at < date_trunc('minute', ${statementTime})) tally`.execute(db)
  const row = rows[0] as OverviewRow
  return {
    at: row.at,
    slots: { busy: row.busy, total: row.total },
    nodes: { alive: row.alive, draining: row.draining, stale: row.stale },
    ready: sumOf(lanes.map((lane) => bounded(lane.ready, lane.bound))),
    running: lanes.reduce((sum, lane) => sum + lane.running, 0),
    succeededPerS: row.succeededPerS,
    failedPerS: row.failedPerS,
    toReview: bounded(row.toReview),
    errorGroups: bounded(row.errorGroups),
  }
}
