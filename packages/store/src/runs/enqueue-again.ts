/**
 * Enqueues a new run like an old one, which does not change: the same task, queue, group, priority, limits and keys,
 * with the same payload or another. With another payload, keys that the published task takes from the payload are
 * computed again. q.run_origin links the runs, and an event of the new run says who requested it. Throttle, debounce,
 * delay and deadline do not apply.
 */
import { ExplainedError, type TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { sqlState } from '../connection/sql-state.ts'
import { promoteKeys } from './promote.ts'
import { wakesForReady } from './ready-wakes.ts'

export interface AgainRequest {
  /** JSON text, so that long numbers keep their digits; undefined: the payload of the old run. */
  readonly payload?: string
  readonly by: string
}

interface Made {
  readonly isStep: boolean
  readonly payloadProblem: string | null
  readonly id: RunId | null
  readonly status: TaskState | null
  readonly key: string | null
}

/** Throws `INVALID_PAYLOAD`, `AGAIN_STEP` or `AGAIN_CONFLICT`. */
export async function enqueueAgain(db: Db, id: RunId, request: AgainRequest): Promise<{ runId: RunId } | 'not-found'> {
  const made = await insert(db, id, request).catch((error: unknown) => {
    throw sqlState(error)?.startsWith('22') === true ? notJson(error) : error
  })
  if (made === undefined) return 'not-found'
  if (made.isStep) throw isStep(id)
  if (made.payloadProblem !== null) throw invalidPayload(made.payloadProblem)
  if (made.id === null) throw conflict(id)
  if (made.status === 'PENDING' && made.key !== null) await promoteKeys(db, [made.key])
  return { runId: made.id }
}

async function insert(db: Db, id: RunId, { payload, by }: AgainRequest): Promise<Made | undefined> {
  // Written in SQL: the payload never leaves the database as a value, in which long numbers would lose digits.
  const { rows } = await sql<Made>`
WITH old AS MATERIALIZED (
  SELECT r.*, coalesce(given.payload, r.payload) AS new_payload, given.payload IS NOT NULL AND t.name IS NOT NULL AS is_taken_anew, t AS published,
    CASE WHEN given.payload IS NOT NULL THEN
      coalesce(q.payload_problem(given.payload), q.schema_problem(t.payload_schema, given.payload, t.payload_schema)) END AS problem
  FROM q.task_run r LEFT JOIN q.task t ON t.name = r.task CROSS JOIN (SELECT ${payload ?? null}::text::jsonb AS payload) given
  WHERE r.id = ${id}
), keyed AS MATERIALIZED (
  SELECT old.*, CASE WHEN is_taken_anew THEN anew.concurrency_scope ELSE old.concurrency_scope END AS new_scope,
    CASE WHEN is_taken_anew THEN anew.concurrency_key ELSE old.concurrency_key END AS new_key,
    CASE WHEN is_taken_anew THEN coalesce(anew.unique_key, old.unique_key) ELSE old.unique_key END AS new_unique
  FROM old CROSS JOIN LATERAL q.settings_of(old.published, old.new_payload, old.asked) anew
), made AS (
  INSERT INTO q.task_run AS made (task, lane, priority, grp, max_attempts, on_crash, timeout_ms, max_silent_ms, status, waiting_for,
    unique_key, concurrency_scope, concurrency_key, trace, asked, payload)
  SELECT task, lane, priority, grp, max_attempts, on_crash, timeout_ms, max_silent_ms,
    CASE WHEN asked IS NULL AND new_key IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status,
    CASE WHEN asked IS NOT NULL THEN 'task' WHEN new_key IS NOT NULL THEN 'concurrency' END,
    new_unique, new_scope, new_key, trace, asked, new_payload
  FROM keyed WHERE workflow_id IS NULL AND problem IS NULL
  ON CONFLICT (task, unique_live) WHERE unique_live IS NOT NULL DO NOTHING
  RETURNING made.id, made.status, made.lane, made.concurrency_key
), origin AS (
  INSERT INTO q.run_origin (run_id, origin_id, kind) SELECT id, ${id}, 'again' FROM made
), event AS (
  INSERT INTO q.task_event (run_id, fence, kind, detail) SELECT id, 0, 'run-again', ${`By ${by}, of run ${id}.`} FROM made
), ready AS (
  SELECT lane FROM made WHERE status = 'AVAILABLE'
), ${wakesForReady(sql`ready`)}
SELECT old.workflow_id IS NOT NULL AS "isStep", old.problem AS "payloadProblem", made.id, made.status, made.concurrency_key AS key
FROM old LEFT JOIN made ON true LEFT JOIN announced ON true`.execute(db)
  return rows[0]
}

function isStep(id: RunId): ExplainedError {
  return new ExplainedError({
    code: 'AGAIN_STEP',
    what: `Run ${id} cannot be run again on its own; nothing was enqueued.`,
    why: 'It is a step of a workflow: its payload comes from other steps.',
    fix: 'Retry the step, or start the workflow again.',
  })
}

function conflict(id: RunId): ExplainedError {
  return new ExplainedError({
    code: 'AGAIN_CONFLICT',
    what: `Run ${id} cannot be run again now; nothing was enqueued.`,
    why: 'A run that has not ended has its unique key.',
    fix: 'Wait until that run has ended, or cancel it.',
  })
}

function invalidPayload(why: string): ExplainedError {
  return new ExplainedError({
    code: 'INVALID_PAYLOAD',
    what: 'The payload does not fit its task; nothing was enqueued.',
    why: `${why}.`,
    fix: 'Correct the payload, or the input of the task.',
  })
}

function notJson(cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'INVALID_PAYLOAD',
    what: 'The payload is not JSON; nothing was enqueued.',
    why: cause instanceof Error ? cause.message : String(cause),
    fix: 'Pass JSON text.',
    cause,
  })
}
