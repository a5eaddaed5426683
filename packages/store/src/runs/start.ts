/**
 * CLAIMED → RUNNING, by lease
 *
 * Starts runs that were claimed ahead. RUNNING is committed before the code begins, which makes a CLAIMED run safe to
 * requeue. A run whose deadline has passed in the meantime is not started.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import { auditRefusedWrites } from '../events/audit-refused-writes.ts'
import { columnsOf, type Lease, type LeaseColumns, type RunId } from '../lease.ts'
import { prepared, type ParameterRefs } from '../connection/prepared.ts'
import { isInTime } from './claimable.ts'

/** Returns the ids of runs that may be executed now; the other leases are lost, or their runs expired. */
export async function startTaskRuns(db: Db, leases: readonly Lease[]): Promise<RunId[]> {
  if (leases.length === 0) return []
  const started = (await db.executeQuery(startStatement(leases))).rows.map((row) => row.id)
  const begun = new Set(started)
  const others = leases.filter(({ runId }) => !begun.has(runId))
  await auditRefusedWrites(db, 'refused-start', others)
  return started
}

export interface StartStatementOptions {
  /** Whether to skip runs that another session has locked instead of waiting. */
  readonly skipLocked?: boolean
}

export function startStatement(
  leases: readonly Lease[],
  { skipLocked = false }: StartStatementOptions = {},
): CompiledQuery<{ id: RunId }> {
  return (skipLocked ? startSkippingLocked : start)(columnsOf(leases))
}

/** The most attempts that the column can count. */
const attemptsMax = 32_767

/** The attempt that begins. After the last one that can be counted, a crashed run still starts again: the count stays. */
export const nextAttempt: RawBuilder<number> = sql<number>`least(r.attempt, ${sql.lit(attemptsMax - 1)}) + 1`

const start = prepared<LeaseColumns, { id: RunId }>('start', (leases) => startSql(leases, sql``))
const startSkippingLocked = prepared<LeaseColumns, { id: RunId }>('start-skipping-locked', (leases) =>
  startSql(leases, sql`SKIP LOCKED`),
)

// Written in SQL: arrays in, and rows locked in the order of their ids.
function startSql(
  { ids, fences }: ParameterRefs<LeaseColumns>,
  others: RawBuilder<unknown>,
): RawBuilder<{ id: RunId }> {
  return sql<{ id: RunId }>`
WITH locked AS MATERIALIZED (
  SELECT r.id FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
  JOIN q.task_run r ON r.id = g.id AND r.fence = g.fence
  WHERE r.status = 'CLAIMED' AND ${isInTime} ORDER BY r.id FOR NO KEY UPDATE OF r ${others}
)
UPDATE q.task_run r SET status = 'RUNNING', attempt = ${nextAttempt}, started_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE r.id = ANY(ARRAY(SELECT id FROM locked))
RETURNING r.id`
}

/** Of leases that were not started, returns those that still could be: another session has locked them. */
export async function stillClaimed(db: Db, leases: readonly Lease[]): Promise<RunId[]> {
  const { ids, fences } = columnsOf(leases)
  const { rows } = await sql<{ id: RunId }>`
    SELECT r.id FROM q.task_run r JOIN unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence) USING (id, fence)
    WHERE r.status = 'CLAIMED' AND ${isInTime}`.execute(db)
  return rows.map(({ id }) => id)
}
