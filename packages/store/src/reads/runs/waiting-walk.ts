/**
 * Lists waiting runs, longest first: AVAILABLE runs and runs at the gates `concurrency` and `task`.
 *
 * The ready index orders the runs of each group of a lane by age, so the k oldest runs overall are among the k oldest
 * runs of the k groups with the oldest ready run. At each gate it reads the first ten thousand runs.
 */
import { sql, type RawBuilder } from 'kysely'
import { oldestReadyOfLane } from '../queues/oldest-ready-of-lane.ts'
import type { RunFilter } from './run-filter.ts'
import { placeOfTime, type Walk } from './walk.ts'

export interface WaitingRequest {
  readonly filter: RunFilter
  readonly cursor: string | undefined
  readonly limit: number
}

/** The most runs that are read if the filter has conditions other than lane and group. */
const filteredMax = 300
const gatedMax = 10_000

export function waitingWalk({ filter, cursor, limit }: WaitingRequest): Walk {
  const { task, queue, group, ...others } = filter
  const isPlain = Object.values(others).every((value) => value === undefined)
  const most = isPlain ? limit + 1 : Math.max(limit + 1, filteredMax)
  const lanes = sql`(${task ?? null}::text IS NULL OR lane.task = ${task ?? null}) AND (${queue ?? null}::text IS NULL OR lane.queue = ${queue ?? null})`
  const groups = sql`(${group ?? null}::text IS NULL OR head.grp = ${group ?? null})`
  const ofGroup = (alias: RawBuilder<unknown>, count: number) => sql`
    SELECT r.id, r.run_at FROM q.task_run r
    WHERE r.ready AND r.lane = ${alias}.lane AND r.priority = ${alias}.priority AND r.grp = ${alias}.grp AND ${older(cursor)}
    ORDER BY r.run_at, r.id LIMIT ${count}::int`
  return {
    from: sql`(
      WITH heads AS MATERIALIZED (
        SELECT head.lane, head.priority, head.grp, first.run_at, first.id FROM (
          SELECT lane.id AS lane, head.priority, head.grp, head.run_at, head.id FROM q.lane CROSS JOIN LATERAL (${oldestReadyOfLane(sql.ref('lane.id'))}) head
          WHERE ${lanes} AND ${groups}) head
        CROSS JOIN LATERAL (${cursor === undefined ? sql`SELECT head.run_at, head.id` : ofGroup(sql`head`, 1)}) first ORDER BY first.run_at, first.id LIMIT ${most}::int
      )
      SELECT * FROM (
        SELECT runs.id, runs.run_at FROM heads CROSS JOIN LATERAL (${ofGroup(sql`heads`, most)}) runs
        UNION ALL ${atGate(sql`g.gated_key IS NOT NULL ORDER BY g.gated_key, g.lane, g.priority, g.id`, cursor)}
        UNION ALL ${atGate(sql`g.asked IS NOT NULL AND g.finished_at IS NULL ORDER BY g.task, g.id`, cursor)}
      ) waiting ORDER BY run_at, id LIMIT ${most}::int
    ) c CROSS JOIN LATERAL (SELECT one.* FROM q.task_run one WHERE one.id = c.id LIMIT 1) r`,
    where: sql`true`,
    key: sql`c.run_at`,
    id: sql`c.id`,
    order: 'ASC',
    keyKind: 'time',
    shows: sql<boolean>`true`,
    lookMax: most,
  }
}

/** `inOrder`: the condition and the order of the partial index that has the runs at this gate. */
function atGate(inOrder: RawBuilder<unknown>, cursor: string | undefined): RawBuilder<unknown> {
  return sql`SELECT r.id, r.run_at FROM (SELECT g.id, g.run_at FROM q.task_run g WHERE ${inOrder} LIMIT ${gatedMax}::int) r
          WHERE ${older(cursor)}`
}

function older(cursor: string | undefined): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`true`
  return sql<boolean>`(r.run_at, r.id) > (${placeOfTime(cursor)})`
}
