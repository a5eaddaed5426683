/**
 * AVAILABLE | PENDING (concurrency) → FAILED `UNROUTABLE`
 *
 * Fails runs that no live replica could serve for a grace period: no replica knows the task, works on the queue, or has
 * the capabilities. The lane records since when no replica serves it. Every check renews that record; after a gap
 * between checks, as when the whole fleet was away, the grace period begins again. A paused queue waits for a person,
 * not for a replica.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { isPaused } from './claimable.ts'
import { applyTransitions } from './transition.ts'
import { promoteOpenKeys } from './promote.ts'
import { isServed } from './startable.ts'

export interface UnroutableOptions {
  readonly graceMs: number
  /** The longest time between two checks that does not begin the grace again. */
  readonly gapMsMax: number
  readonly limit: number
}

/** Returns the ids of the runs that it failed; as many as `limit` means that there may be more. */
export async function failUnroutableTaskRuns(db: Db, options: UnroutableOptions): Promise<RunId[]> {
  const { graceMs, limit } = options
  await noteUnservedLanes(db, options.gapMsMax)
  const since = sql`clock_timestamp() - ${graceMs}::float8 * interval '1 ms'`
  const { rows } = await sql<{ id: RunId; fence: number }>`
WITH unserved AS MATERIALIZED (SELECT lane.id FROM q.lane WHERE lane.unserved_at <= ${since} AND NOT ${isPaused})
SELECT found.id, found.fence FROM unserved CROSS JOIN LATERAL (
  (SELECT r.id, r.fence FROM q.task_run r WHERE r.ready AND r.lane = unserved.id AND r.updated_at <= ${since} LIMIT ${limit})
  UNION ALL
  (SELECT r.id, r.fence FROM q.task_run r
    WHERE r.gated_key IS NOT NULL AND r.lane = unserved.id AND r.updated_at <= ${since} LIMIT ${limit})) found
LIMIT ${limit}`.execute(db)
  const detail = `No live replica could serve it for ${Math.round(graceMs / 1_000)} s.`
  const result = JSON.stringify({ code: 'UNROUTABLE', detail })
  const unroutable = rows.map(({ id, fence }) => ({ runId: id, fence, goal: 'FAILED', result }) as const)
  const onlyIf = sql<boolean>`(r.ready OR r.gated_key IS NOT NULL)
    AND EXISTS (SELECT FROM q.lane WHERE lane.id = r.lane AND NOT ${isServed})`
  const changed = await applyTransitions(db, ['AVAILABLE', 'PENDING'], unroutable, { onlyIf, skipLocked: true })
  await promoteOpenKeys(db, changed)
  return changed.map((run) => run.id)
}

async function noteUnservedLanes(db: Db, gapMsMax: number): Promise<void> {
  await sql`
UPDATE q.lane SET
  unserved_at = CASE WHEN served THEN NULL
    WHEN unserved_seen_at > clock_timestamp() - ${gapMsMax}::float8 * interval '1 ms' THEN unserved_at
    ELSE clock_timestamp() END,
  unserved_seen_at = CASE WHEN NOT served THEN clock_timestamp() END
FROM (SELECT lane.id, ${isServed} AS served FROM q.lane) now
WHERE now.id = lane.id AND (NOT served OR unserved_at IS NOT NULL)`.execute(db)
}
