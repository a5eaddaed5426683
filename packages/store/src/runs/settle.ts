/**
 * RUNNING → SUCCEEDED | FAILED | CANCELLED
 *
 * Guarded by the lease: a run that was reaped, released or claimed again since matches no row, and its old holder is
 * told so. One that is already terminal under the same fence was settled by us, the answer got lost: that is a success.
 * History and the end of its heartbeats are part of the same statement; so is the wake, sent only if somebody waits.
 *
 * Rows are locked in the order of their ids, so batches cannot deadlock.
 */
import type { ErrorCode } from '@q/schema'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import { columnsOf, type Lease, type RunId } from '../lease.ts'

export type Outcome =
  /** `result`: JSON text. */
  | { readonly status: 'SUCCEEDED'; readonly result: string }
  | {
      readonly status: 'FAILED' | 'CANCELLED'
      readonly code: ErrorCode
      readonly detail: string
      readonly stack?: string
    }

export interface Settlement {
  readonly lease: Lease
  readonly outcome: Outcome
  readonly by: { readonly hostname: string; readonly pid: number; readonly thread: number }
}

/** One answer per settlement, in the order asked. */
export async function settleTaskRuns(
  db: Db,
  settlements: readonly Settlement[],
): Promise<('settled' | 'lease-lost')[]> {
  if (settlements.length === 0) return []
  const { rows } = await settleStatement(settlements).execute(db)
  const settled = new Set(rows.map((row) => row.id))
  return settlements.map(({ lease }) => (settled.has(lease.runId) ? 'settled' : 'lease-lost'))
}

/** A run's own code, inside its own transaction: what it wrote there and this end are one. */
export async function finishTaskRun(db: Db, lease: Lease, result: unknown): Promise<'settled' | 'lease-lost'> {
  const outcome = { status: 'SUCCEEDED', result: JSON.stringify(result) ?? 'null' } as const
  const [answer] = await settleTaskRuns(db, [{ lease, outcome, by: { hostname: '', pid: 0, thread: 0 } }])
  return answer ?? 'lease-lost'
}

// A whole statement by hand: five changes that must be one, in an order of locks that must be seen.
export function settleStatement(settlements: readonly Settlement[]): RawBuilder<{ id: RunId }> {
  const { ids, fences } = columnsOf(settlements.map((settlement) => settlement.lease))
  const statuses = settlements.map(({ outcome }) => outcome.status)
  const results = settlements.map(({ outcome }) => resultOf(outcome))
  const hosts = settlements.map(({ by }) => by.hostname)
  const pids = settlements.map(({ by }) => by.pid)
  const threads = settlements.map(({ by }) => by.thread)
  return sql<{ id: RunId }>`
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(${ids}::bigint[], ${fences}::int[], ${statuses}::q.task_status[], ${results}::text[],
    ${hosts}::text[], ${pids}::int[], ${threads}::smallint[]) AS g(id, fence, status, result, hostname, pid, thread)
), locked AS MATERIALIZED (
  SELECT r.id, given.status, given.result, given.hostname, given.pid, given.thread
  FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = given.fence
  WHERE r.status = 'RUNNING' ORDER BY r.id FOR NO KEY UPDATE OF r
), settled AS (
  UPDATE q.task_run r SET
    status = locked.status, result = locked.result::jsonb, concurrency_slot = NULL,
    finished_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM locked WHERE r.id = locked.id
  RETURNING r.id, r.fence, r.epoch, r.attempt, r.status, r.result, r.awaited, r.replica_id, r.started_at,
    locked.hostname, locked.pid, locked.thread
), history AS (
  INSERT INTO q.task_attempt
    (run_id, fence, epoch, attempt, thread, pid, started_at, outcome, code, detail, replica_id, hostname)
  SELECT id, fence, epoch, attempt, thread, pid, started_at, lower(status::text), result->>'code', result->>'detail',
    replica_id, hostname
  FROM settled WHERE status <> 'SUCCEEDED'
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM settled))
), wake AS (
  SELECT pg_notify('q_ended', string_agg(id::text, ',')) FROM settled WHERE awaited HAVING count(*) > 0
)
SELECT settled.id FROM settled LEFT JOIN wake ON true
UNION ALL
SELECT r.id FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = given.fence WHERE r.finished_at IS NOT NULL`
}

function resultOf(outcome: Outcome): string {
  if (outcome.status === 'SUCCEEDED') return outcome.result
  const { code, detail, stack } = outcome
  return JSON.stringify(stack === undefined ? { code, detail } : { code, detail, stack })
}
