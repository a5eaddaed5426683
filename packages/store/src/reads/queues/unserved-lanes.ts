/**
 * Lists lanes with a waiting run that no live node serves, and tasks that no replica has published, by the conditions
 * of the claim. A keyed run of such a lane waits for its concurrency key, because only a run that can start may hold
 * it.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { agoMs, bounded, countMax, countOf, type Bounded } from '../bounded.ts'
import { oldestReadyOfLane } from './oldest-ready-of-lane.ts'
import { isAble, knowsTask, serves, servingReplicas, worksOnQueue } from './serving.ts'

export interface UnservedLane {
  readonly queue: string
  readonly task: string
  readonly requires: readonly string[]
  /** Runs that could start if a node served them. */
  readonly ready: Bounded
  readonly oldestMs: number
  readonly sampleRunId: RunId
  /** What every live node lacks, as a sentence. */
  readonly missing: string
}

interface LaneRow extends Omit<UnservedLane, 'ready' | 'missing'> {
  readonly ready: number
  readonly published: boolean
  readonly alive: number
  readonly known: boolean
  readonly workedOn: boolean
}

/** The most lanes in the list. */
const lanesMax = 100

export async function unservedLanes(db: Db): Promise<UnservedLane[]> {
  const { rows } = await sql<LaneRow>`
WITH living AS MATERIALIZED (${servingReplicas}),
gated AS MATERIALIZED (
  SELECT lane, count(*)::int AS runs, min(id) AS id FROM (
    SELECT r.lane, r.id FROM q.task_run r WHERE r.gated_key IS NOT NULL
    ORDER BY r.gated_key, r.lane, r.priority, r.id LIMIT ${countMax + 1}::int) each GROUP BY lane
), unserved AS MATERIALIZED (
  SELECT lane.*, gated.id AS gated_id, gated.runs AS gated FROM q.lane LEFT JOIN gated ON gated.lane = lane.id
  WHERE NOT EXISTS (SELECT FROM living n WHERE ${serves})
    AND (gated.id IS NOT NULL OR EXISTS (SELECT FROM q.task_run r WHERE r.ready AND r.lane = lane.id))
  LIMIT ${lanesMax}::int
)
SELECT lane.queue, lane.task, lane.requires, one.id AS "sampleRunId", ${agoMs(sql`one.run_at`)} AS "oldestMs",
  ${countOf(sql`SELECT FROM q.task_run r WHERE r.ready AND r.lane = lane.id ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT ${countMax + 1}::int`)}
    + coalesce(lane.gated, 0) AS ready,
  EXISTS (SELECT FROM q.task WHERE task.name = lane.task) AS published, (SELECT count(*)::int FROM living) AS alive,
  EXISTS (SELECT FROM living n WHERE ${knowsTask} AND ${isAble}) AS known,
  EXISTS (SELECT FROM living n WHERE ${knowsTask} AND ${worksOnQueue}) AS "workedOn"
FROM unserved lane
LEFT JOIN LATERAL (SELECT heads.id FROM (${oldestReadyOfLane(sql.ref('lane.id'))}) heads ORDER BY heads.run_at, heads.id LIMIT 1) head ON true
CROSS JOIN LATERAL (SELECT r.id, r.run_at FROM q.task_run r WHERE r.id = coalesce(head.id, lane.gated_id) LIMIT 1) one
ORDER BY one.run_at`.execute(db)
  return [...rows.map(laneOf), ...(await unpublishedTasks(db))]
}

function laneOf({ ready, published, alive, known, workedOn, ...lane }: LaneRow): UnservedLane {
  const { task, queue, requires } = lane
  const missing = () => {
    if (alive === 0) return 'no node is alive that claims runs'
    if (!published) return `no node has published the task ${task}`
    if (workedOn) return `no node that knows ${task} has ${requires.join(', ')}`
    if (known) return `no node that knows ${task} works on the queue ${queue}`
    return alive === 1
      ? `the only node that claims runs does not know the task ${task}`
      : `none of the ${alive} nodes that claim runs knows the task ${task}`
  }
  return { ...lane, ready: bounded(ready), missing: missing() }
}

/** Runs at the gate `task` have no lane; a loose scan of their index finds the tasks. */
async function unpublishedTasks(db: Db): Promise<UnservedLane[]> {
  const waiting = sql`r.asked IS NOT NULL AND r.finished_at IS NULL`
  const { rows } = await sql<LaneRow>`
WITH RECURSIVE head AS (
  (SELECT r.task, r.id FROM q.task_run r WHERE ${waiting} ORDER BY r.task, r.id LIMIT 1)
  UNION ALL
  SELECT next.* FROM head CROSS JOIN LATERAL (
    SELECT r.task, r.id FROM q.task_run r WHERE ${waiting} AND r.task > head.task ORDER BY r.task, r.id LIMIT 1) next
)
SELECT coalesce(one.asked ->> 'queue', 'default') AS queue, head.task, ARRAY[]::text[] AS requires, head.id AS "sampleRunId",
  ${agoMs(sql`one.created_at`)} AS "oldestMs",
  ${countOf(sql`SELECT FROM q.task_run r WHERE ${waiting} AND r.task = head.task ORDER BY r.id LIMIT ${countMax + 1}::int`)} AS ready
FROM (SELECT * FROM head LIMIT ${lanesMax}::int) head
CROSS JOIN LATERAL (SELECT r.asked, r.created_at FROM q.task_run r WHERE r.id = head.id LIMIT 1) one
WHERE NOT EXISTS (SELECT FROM q.task WHERE task.name = head.task)`.execute(db)
  return rows.map((row) => ({
    ...row,
    ready: bounded(row.ready),
    missing: `no node has published the task ${row.task}`,
  }))
}
