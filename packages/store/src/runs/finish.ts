/**
 * RUNNING → SUCCEEDED, for runs that no other run waits for: the usual and cheapest end
 *
 * It skips runs with a concurrency key or a workflow, which need the full transition (transition.ts), and lost leases;
 * a run that the answer does not name was not settled. It does what every end does: removes heartbeats and wakes
 * callers that wait for the run.
 */
import { sql, type CompiledQuery } from 'kysely'
import { byRun, columnsOf, type Lease, type LeaseColumns } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { notifyWaiters } from './notify-waiters.ts'
import { realStart } from './real-start.ts'

export interface Finish {
  readonly lease: Lease
  /** JSON text. */
  readonly result: string
  /** How long the code ran: RUNNING is committed before a thread begins the run. */
  readonly tookMs?: number
  /** For the history, if there is one: a success is stored in the run alone. */
  readonly by: { readonly hostname: string; readonly pid: number; readonly thread: number }
}

/** Returns the leases of the runs that were settled. */
export function finishStatement(finishes: readonly Omit<Finish, 'by'>[]): CompiledQuery<Lease> {
  // In the order of ids, so that two batches take their locks in one order.
  const sorted = finishes.toSorted((a, b) => byRun(a.lease, b.lease))
  return finish({
    ...columnsOf(sorted.map(({ lease }) => lease)),
    results: sorted.map(({ result }) => result),
    took: sorted.map(({ tookMs = null }) => tookMs),
  })
}

// Written in SQL: changes that must be atomic.
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
  RETURNING r.id, r.fence, r.status
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM done))
), ${notifyWaiters(sql`done`)}
SELECT done.id AS "runId", done.fence FROM done LEFT JOIN woken ON true`,
)
