/**
 * Counts ready and held runs per lane. Ready runs are counted up to a bound per lane, which shrinks when there are
 * many lanes, so that all of them together cost the same; the age of the oldest is exact whatever the backlog.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { agoMs, countMax } from '../bounded.ts'
import { headsOfLane } from './ready-heads-of-lane.ts'
import { serves, servingReplicas } from './serving.ts'

export interface LaneCounts {
  readonly queue: string
  readonly task: string
  readonly claimed: number
  readonly running: number
  /** At most one more than `bound`. */
  readonly ready: number
  readonly bound: number
  readonly oldestMs: number | null
  /** Living replicas that serve it; of a list of all queues: whether one does (1 or 0), and only if a run is ready. */
  readonly nodes: number | null
}

/** Ready runs of all lanes together that are looked at, unless there are more than 50 lanes. */
const lookedAtMax = 50_000
const boundMin = 1_000
/** A replica holds no more runs than it has slots and start-ahead, so this is never reached. */
const heldMax = 200_000

/** `queue`: of its lanes only. */
export async function laneCounts(db: Db, queue?: string): Promise<LaneCounts[]> {
  const lane = sql.ref<number>('lane.id')
  const serving =
    queue === undefined
      ? sql`CASE WHEN ready.runs > 0 THEN EXISTS (SELECT FROM living n WHERE ${serves})::int END`
      : sql`(SELECT count(*)::int FROM living n WHERE ${serves})`
  const readyOf = sql`
    SELECT FROM q.task_run r WHERE r.ready AND r.lane = ${lane}
    ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT bound.runs + 1`
  const { rows } = await sql<LaneCounts>`
WITH living AS MATERIALIZED (${servingReplicas}),
bound AS MATERIALIZED (
  SELECT least(${countMax}::int, greatest(${boundMin}::int, ${lookedAtMax}::int / greatest(count(*), 1)))::int AS runs FROM q.lane
), held AS MATERIALIZED (
  SELECT lane, (count(*) FILTER (WHERE status = 'CLAIMED'))::int AS claimed, (count(*) FILTER (WHERE status = 'RUNNING'))::int AS running
  FROM (SELECT r.lane, r.status FROM q.task_run r WHERE r.held ORDER BY r.replica_id LIMIT ${heldMax}::int) each GROUP BY lane
)
SELECT lane.queue, lane.task, ready.runs AS ready, bound.runs AS bound, coalesce(held.claimed, 0) AS claimed,
  coalesce(held.running, 0) AS running, ${agoMs(sql`oldest.run_at`)} AS "oldestMs", ${serving} AS nodes
FROM q.lane CROSS JOIN bound CROSS JOIN LATERAL (SELECT count(*)::int AS runs FROM (${readyOf}) counted) ready
CROSS JOIN LATERAL (SELECT min(run_at) AS run_at FROM (${headsOfLane(lane)}) heads) oldest
LEFT JOIN held ON held.lane = lane.id
WHERE ${queue ?? null}::text IS NULL OR lane.queue = ${queue ?? null}::text
ORDER BY lane.queue, lane.task`.execute(db)
  return rows
}
