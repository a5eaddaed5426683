/**
 * The facts for the span of a run, for runs that have ended under their last holder and were enqueued with a trace context. The
 * epoch began with the enqueue, or with the first attempt after a manual retry. Primary keys alone; no locks.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { traceOfRun } from '../../runs/trace-of-run.ts'

export interface RunOfHolder {
  readonly runId: RunId
  readonly holder: string
}

export interface EndedTrace {
  readonly runId: RunId
  readonly epoch: number
  readonly task: string
  readonly trace: string
  readonly status: string
  /** How often its code was started. */
  readonly attempts: number
  readonly code: string | null
  /** In milliseconds since 1970. */
  readonly beganMs: number
  readonly endedMs: number
}

export async function endedTraces(db: Db, runs: readonly RunOfHolder[]): Promise<EndedTrace[]> {
  const ids = runs.map(({ runId }) => runId)
  const holders = runs.map(({ holder }) => holder)
  const { rows } = await sql<EndedTrace>`
SELECT r.id AS "runId", r.epoch, r.task, traced.context AS trace, r.status, r.attempt AS attempts, ${codeOfRun} AS code,
  ${msOf('began.at')} AS "beganMs", ${msOf('r.finished_at')} AS "endedMs"
FROM unnest(${ids}::bigint[], ${holders}::text[]) AS g(id, holder)
JOIN q.task_run r ON r.id = g.id AND r.replica_id = g.holder AND r.finished_at IS NOT NULL
CROSS JOIN LATERAL (SELECT ${traceOfRun} AS context) traced
CROSS JOIN LATERAL (SELECT CASE WHEN r.epoch = 1 THEN r.created_at ELSE least(r.started_at,
  (SELECT min(a.started_at) FROM q.task_attempt a WHERE a.run_id = r.id AND a.epoch = r.epoch)) END AS at) began
WHERE traced.context IS NOT NULL`.execute(db)
  return rows
}

const codeOfRun = sql`CASE WHEN r.status <> 'SUCCEEDED' THEN r.result ->> 'code' END`

function msOf(time: string) {
  return sql`(extract(epoch FROM ${sql.ref(time)}) * 1000)::float8`
}
