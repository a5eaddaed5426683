/**
 * RUNNING → SUCCEEDED, for runs that nobody waits behind: the usual end, and the cheapest
 *
 * A run with a concurrency key or a workflow is passed over here and goes the long way (leave.ts), as does a lease that
 * was lost; who is not named in the answer was not settled. What every end does is done here too: beats are removed,
 * those who await it are woken, and destinations are owed their report.
 */
import { sql, type CompiledQuery } from 'kysely'
import { byRun, columnsOf, type Lease, type LeaseColumns } from '../lease.ts'
import { owedForEnds } from '../deliveries/owed.ts'
import { prepared } from '../prepared.ts'
import { wakesForEnds } from './awaited.ts'
import { realStart } from './real-start.ts'

export interface Finish {
  readonly lease: Lease
  /** JSON text. */
  readonly result: string
  /** How long the code ran: RUNNING is committed before a thread begins the run. */
  readonly tookMs?: number
  /** For the history, where there is one: a success lives in the run alone. */
  readonly by: { readonly hostname: string; readonly pid: number; readonly thread: number }
}

/** Leases of those that were settled. */
export function finishStatement(finishes: readonly Omit<Finish, 'by'>[]): CompiledQuery<Lease> {
  // In the order of ids: two batches that meet take their locks in one order.
  const sorted = finishes.toSorted((a, b) => byRun(a.lease, b.lease))
  return finish({
    ...columnsOf(sorted.map(({ lease }) => lease)),
    results: sorted.map(({ result }) => result),
    took: sorted.map(({ tookMs = null }) => tookMs),
  })
}

// A whole statement by hand: changes that must be one.
interface FinishValues extends LeaseColumns {
  readonly results: readonly string[]
  readonly took: readonly (number | null)[]
}

const finish = prepared<FinishValues, Lease>(
  'finish',
  ({ ids, fences, results, took }) => sql<Lease>`
WITH done AS (
  UPDATE q.task_run r SET status = 'SUCCEEDED', result = g.result::jsonb, started_at = ${realStart(sql`r.started_at`, sql`g.took`)},
    finished_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM unnest(${ids}::bigint[], ${fences}::int[], ${results}::text[], ${took}::float8[]) AS g(id, fence, result, took)
  WHERE r.id = g.id AND r.fence = g.fence AND r.status = 'RUNNING' AND r.concurrency_key IS NULL AND r.workflow_id IS NULL
  RETURNING r.id, r.fence, r.epoch, r.task, r.status
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM done))
), ${wakesForEnds(sql`done`)}, ${owedForEnds(sql`done`)}
SELECT done.id AS "runId", done.fence FROM done LEFT JOIN woken ON true`,
)
