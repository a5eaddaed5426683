/** Reads one queue with its tasks, groups and concurrency keys. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { bounded, countOf, sumOf, type Bounded } from '../bounded.ts'
import { contendedKeys, type ContendedKey } from './contended-keys.ts'
import { queueFacts, viewOf } from './list-queues.ts'
import type { QueueView } from './queue-view.ts'
import { oldestReadyOfLane } from './oldest-ready-of-lane.ts'

export interface QueueDetail extends QueueView {
  readonly tasks: readonly QueueTask[]
  /** Groups whose oldest run waits longest, at most 100, and groups with a weight. */
  readonly groups: readonly QueueGroup[]
  readonly keys: readonly ContendedKey[]
}

export interface QueueTask {
  readonly task: string
  readonly ready: Bounded
  /** Live nodes that serve the task. */
  readonly nodes: number
}

export interface QueueGroup {
  readonly group: string
  readonly weight: number
  readonly ready: Bounded
}

const groupsMax = 100
/** The most ready runs that are counted per group. */
const groupCountMax = 1_000

/** Undefined: the queue never had a run and was never paused. */
export async function getQueue(db: Db, queue: string): Promise<QueueDetail | undefined> {
  const facts = await queueFacts(db, queue)
  const lanes = facts.lanes.get(queue) ?? []
  const known = lanes.length > 0 || facts.pauses.has(queue) || facts.waiting.queues.includes(queue)
  if (!known) return undefined
  const tasks = [...Map.groupBy(lanes, (lane) => lane.task)].map(([task, own]) => ({
    task,
    ready: sumOf(own.map((lane) => bounded(lane.ready, lane.bound))),
    nodes: Math.max(...own.map((lane) => lane.nodes ?? 0)),
  }))
  return {
    ...viewOf(queue, facts),
    tasks,
    groups: await groupsOf(db, queue),
    keys: await contendedKeys(db, { queue }),
  }
}

interface GroupRow {
  readonly group: string
  readonly weight: number
  readonly ready: number
}

async function groupsOf(db: Db, queue: string): Promise<QueueGroup[]> {
  const readyOf = sql`
    SELECT FROM q.task_run r WHERE r.ready AND r.lane = heads.lane AND r.priority = heads.priority AND r.grp = heads.grp
    ORDER BY r.run_at, r.id LIMIT ${groupCountMax + 1}::int`
  const { rows } = await sql<GroupRow>`
WITH heads AS MATERIALIZED (
  SELECT lane.id AS lane, head.priority, head.grp, head.run_at FROM q.lane
  CROSS JOIN LATERAL (${oldestReadyOfLane(sql.ref('lane.id'))}) head WHERE lane.queue = ${queue}
), oldest AS MATERIALIZED (SELECT grp FROM heads GROUP BY grp ORDER BY min(run_at), grp LIMIT ${groupsMax}::int),
counted AS (SELECT grp, sum(${countOf(readyOf)})::int AS ready FROM heads WHERE grp IN (SELECT grp FROM oldest) GROUP BY grp)
SELECT grp AS "group", coalesce(share.weight, 1) AS weight, coalesce(counted.ready, 0) AS ready
FROM counted FULL JOIN (SELECT grp, weight FROM q.run_group WHERE queue = ${queue} LIMIT ${groupsMax}::int) share USING (grp)
ORDER BY ready DESC, grp`.execute(db)
  return rows.map(({ ready, ...group }) => ({ ...group, ready: bounded(ready, groupCountMax) }))
}
