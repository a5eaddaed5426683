/**
 * Chooses how to read the runs for a filter and a view: an index that contains few other runs, else the primary key
 * backwards. The choice depends only on the request, never on statistics, so the cost of a list is predictable.
 */
import { sql, type RawBuilder } from 'kysely'
import type { TaskState } from '@q/schema'
import type { RunFilter, RunViewName } from './run-filter.ts'
import { statesNamed } from './status-names.ts'
import type { Walk } from './walk.ts'
import { waitingWalk } from './waiting-walk.ts'

export interface WalkChoice {
  readonly view: RunViewName
  readonly filter: RunFilter
  readonly cursor: string | undefined
  readonly limit: number
}

/** The index of AVAILABLE runs is used if there are no more than this. */
export const readyMax = 10_000
/** Never reached: slots and start-ahead limit the runs that replicas hold. */
const heldMax = 200_000

export function walkFor({ view, filter, cursor, limit }: WalkChoice, isReadyShort: boolean): Walk {
  switch (view) {
    case 'newest':
      return newestWalk(filter, isReadyShort)
    case 'running':
      return held(sql`c.started_at`, sql<boolean>`r.status = 'RUNNING'`)
    case 'stopping':
      return held(sql`coalesce(c.cancel_requested_at, c.started_at)`, isStopping)
    case 'failed':
      return failedWalk(filter)
    case 'review':
      return reviewWalk
    case 'waiting':
      return waitingWalk({ filter, cursor, limit })
  }
}

/** Whether the newest runs of this filter are read in the order of their ids. */
export function isListedById(filter: RunFilter): boolean {
  return newestWalk(filter, false).keyKind === 'id'
}

/** Whether the filter asks for AVAILABLE runs alone. */
export function asksForReady(filter: RunFilter): boolean {
  return asksOnlyFor(filter, ['AVAILABLE'])
}

function asksOnlyFor({ status }: RunFilter, states: readonly TaskState[]): boolean {
  return status !== undefined && statesNamed(status).every((state) => states.includes(state))
}

function newestWalk(filter: RunFilter, isReadyShort: boolean): Walk {
  if (filter.fingerprint !== undefined) return failedWalk(filter, 'any state')
  if (filter.schedule !== undefined) return scheduleWalk(filter.schedule)
  if (filter.workflow !== undefined)
    return byId(sql`SELECT w.id FROM q.task_run w WHERE w.workflow_id = ${filter.workflow}`)
  if (asksOnlyFor(filter, ['CLAIMED', 'RUNNING']))
    return byId(sql`SELECT h.id FROM q.task_run h WHERE h.held ORDER BY h.replica_id LIMIT ${heldMax}::int`)
  if (isReadyShort && asksForReady(filter)) return byId(readyIds)
  return {
    from: sql`q.task_run r`,
    where: sql`true`,
    key: sql`r.id`,
    id: sql`r.id`,
    order: 'DESC',
    keyKind: 'id',
    shows: sql<boolean>`true`,
  }
}

const readyIds = sql`
  SELECT ready.id FROM q.lane CROSS JOIN LATERAL (
    SELECT a.id FROM q.task_run a WHERE a.ready AND a.lane = lane.id
    ORDER BY a.priority, a.grp, a.run_at, a.id LIMIT ${readyMax + 1}::int) ready`

/** Looks up the run of each row by primary key: a join could be planned as a scan of the whole table. */
const runOf = (id: RawBuilder<unknown>) => sql`
  CROSS JOIN LATERAL (SELECT one.* FROM q.task_run one WHERE one.id = ${id} LIMIT 1) r`

/** `ids`: a query that is executed before anything is sorted. */
function byId(ids: RawBuilder<unknown>): Walk {
  return {
    from: sql`(SELECT * FROM (${ids}) found OFFSET 0) c ${runOf(sql`c.id`)}`,
    where: sql`true`,
    key: sql`c.id`,
    id: sql`c.id`,
    order: 'DESC',
    keyKind: 'id',
    shows: sql<boolean>`true`,
  }
}

/** Longest first. */
function held(since: RawBuilder<unknown>, shows: RawBuilder<boolean>): Walk {
  return {
    from: sql`(SELECT h.id, h.started_at, h.cancel_requested_at FROM q.task_run h WHERE h.held ORDER BY h.replica_id LIMIT ${heldMax}::int) c
      ${runOf(sql`c.id`)}`,
    where: sql`${since} IS NOT NULL`,
    key: since,
    id: sql`c.id`,
    order: 'ASC',
    keyKind: 'time',
    shows,
  }
}

/** Runs with a requested cancel, and runs that their replica is stopping, for instance after a timeout. */
const isStopping = sql<boolean>`
  (r.cancel_requested_at IS NOT NULL OR r.id::text = ANY(ARRAY(
    SELECT slot.value ->> 'runId' FROM q.replica_heartbeat h CROSS JOIN LATERAL jsonb_array_elements(h.threads) slot
    WHERE slot.value ->> 'state' = 'stopping')))`

/** Sorted by the end of failed attempts, latest first; a run appears at its last attempt. */
function failedWalk({ fingerprint }: RunFilter, states: 'failed' | 'any state' = 'failed'): Walk {
  const isLast = sql<boolean>`
    NOT EXISTS (SELECT FROM q.task_attempt later WHERE later.run_id = c.run_id AND later.fence > c.fence)`
  const isFailed = sql<boolean>`(r.status = 'FAILED' AND c.outcome IN ('failed', 'crashed'))`
  return {
    from: sql`q.task_attempt c ${runOf(sql`c.run_id`)}`,
    where: fingerprint === undefined ? sql`true` : sql`c.fingerprint = ${fingerprint}`,
    key: sql`c.ended_at`,
    id: sql`c.run_id`,
    order: 'DESC',
    keyKind: 'time',
    shows: states === 'any state' ? isLast : sql<boolean>`(${isFailed} AND ${isLast})`,
  }
}

function scheduleWalk(schedule: string): Walk {
  return {
    from: sql`q.schedule_tick c ${runOf(sql`c.run_id`)}`,
    where: sql`c.schedule = ${schedule}`,
    key: sql`c.tick`,
    isKeyUnique: true,
    id: sql`c.run_id`,
    order: 'DESC',
    keyKind: 'time',
    shows: sql<boolean>`true`,
  }
}

/** Sorted by recovery, latest first; a run appears at its last recovery. */
const reviewWalk: Walk = {
  from: sql`q.recovery c ${runOf(sql`c.run_id`)}`,
  where: sql`c.became = 'FAILED' AND c.reviewed_at IS NULL`,
  key: sql`c.id`,
  id: sql`c.run_id`,
  order: 'DESC',
  keyKind: 'number',
  shows: sql<boolean>`NOT EXISTS (SELECT FROM q.recovery later WHERE later.run_id = c.run_id AND later.id > c.id
    AND later.became = 'FAILED' AND later.reviewed_at IS NULL)`,
}
