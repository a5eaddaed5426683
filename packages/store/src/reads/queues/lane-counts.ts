/**
 * Counts ready and held runs per lane. Ready runs are counted up to a bound per lane, which shrinks when there are
 * many lanes, so that all of them together cost the same; the age of the oldest is exact whatever the backlog.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { agoMs, countMax } from '../bounded.ts'
import { oldestReadyOfLane } from './oldest-ready-of-lane.ts'
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
  /** Live replicas that serve the lane. For a list of all queues: 1 or 0, and only if a run is ready. */
  readonly nodes: number | null
}

/** The most ready runs that are read in all lanes together, unless there are more than 50 lanes. */
const lookedAtMax = 50_000
const boundMin = 1_000
/** Never reached: slots and start-ahead limit the runs that a replica holds. */
const heldMax = 200_000

export interface LaneCountRequest {
  /** Only lanes of these queues. */
  readonly queues?: readonly string[] | undefined
  /** The most ready runs that are counted per lane. */
  readonly readyMax?: number
  /** Without the oldest, the cost does not depend on the number of groups. */
  readonly oldest?: boolean
  /** `number`: returns the number of live replicas that serve each lane. */
  readonly serving?: 'any' | 'number'
}

export async function laneCounts(
  db: Db,
  { queues, readyMax = countMax, oldest = true, serving = 'any' }: LaneCountRequest = {},
): Promise<LaneCounts[]> {
  const lane = sql.ref<number>('lane.id')
  const nodes =
    serving === 'any'
      ? sql`CASE WHEN ready.runs > 0 THEN EXISTS (SELECT FROM living n WHERE ${serves})::int END`
      : sql`(SELECT count(*)::int FROM living n WHERE ${serves})`
  const readyOf = sql`
    SELECT FROM q.task_run r WHERE r.ready AND r.lane = ${lane}
    ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT bound.runs + 1`
  const oldestOf = oldest ? sql`(SELECT min(run_at) FROM (${oldestReadyOfLane(lane)}) heads)` : sql`NULL::timestamptz`
  const { rows } = await sql<LaneCounts>`
WITH living AS MATERIALIZED (${servingReplicas}),
bound AS MATERIALIZED (
  SELECT least(${readyMax}::int, greatest(${boundMin}::int, ${lookedAtMax}::int / greatest(count(*), 1)))::int AS runs FROM q.lane
), held AS MATERIALIZED (
  SELECT lane, (count(*) FILTER (WHERE status = 'CLAIMED'))::int AS claimed, (count(*) FILTER (WHERE status = 'RUNNING'))::int AS running
  FROM (SELECT r.lane, r.status FROM q.task_run r WHERE r.held ORDER BY r.replica_id LIMIT ${heldMax}::int) each GROUP BY lane
)
SELECT lane.queue, lane.task, ready.runs AS ready, bound.runs AS bound, coalesce(held.claimed, 0) AS claimed,
  coalesce(held.running, 0) AS running, ${agoMs(oldestOf)} AS "oldestMs", ${nodes} AS nodes
FROM q.lane CROSS JOIN bound CROSS JOIN LATERAL (SELECT count(*)::int AS runs FROM (${readyOf}) counted) ready
LEFT JOIN held ON held.lane = lane.id
WHERE ${queues ?? null}::text[] IS NULL OR lane.queue = ANY(${queues ?? null}::text[])
ORDER BY lane.queue, lane.task`.execute(db)
  return rows
}
