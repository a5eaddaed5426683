/**
 * What steps that ended badly mean to their workflow
 *
 * An end without success (FAILED, CANCELLED, EXPIRED) is tolerated if the step has dependents and none of them was skipped
 * for it: their joins do without it, or they allow failed parents. Every other one is an error of the workflow. A step
 * that was skipped is none.
 *
 *   fail      what has not begun is SKIPPED, what runs is asked to stop, the workflow ends FAILED
 *   pause     nothing new begins; a person resumes it, or retries what failed
 *   continue  only what depends on it is skipped; the workflow ends FAILED when all have ended
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { Leaving, Left } from '../runs/leave.ts'
import type { WorkflowId } from './new-workflow.ts'
import { pauseAll } from './pause.ts'
import { stopWorkflows } from './stop.ts'
import type { Tidings } from './tidings.ts'

/** Those that ended for it. An error may be older than what makes it one: a dependent that could do without it was skipped. */
export async function applyPolicy(
  trx: Db,
  ended: readonly Left[],
  skipped: readonly Leaving[],
  tidings: Tidings,
): Promise<Left[]> {
  const bad = ended.filter(({ status }) => status !== 'SUCCEEDED' && status !== 'SKIPPED')
  if (bad.length + skipped.length === 0) return []
  const { rows } = await sql<{ id: WorkflowId; policy: 'fail' | 'pause' }>`
SELECT DISTINCT w.id, w.on_error AS policy
FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id JOIN q.workflow w ON w.id = s.workflow_id
WHERE r.id = ANY(${bad.map((run) => run.id)}::bigint[] || ARRAY(
    SELECT DISTINCT parent_id FROM q.workflow_edge WHERE child_id = ANY(${skipped.map((run) => run.runId)}::bigint[])))
  AND w.finished_at IS NULL AND w.ends_as IS NULL AND (w.on_error = 'fail' OR w.on_error = 'pause' AND w.status = 'RUNNING')
  AND ${isError}`.execute(trx)
  const pausing = rows.filter((row) => row.policy === 'pause').map((row) => row.id)
  const failing = rows.filter((row) => row.policy === 'fail').map((row) => row.id)
  if (pausing.length > 0) await pauseAll(trx, pausing, 'a step that failed', tidings)
  return stopWorkflows(trx, failing, 'FAILED', tidings)
}

/**
 * Of a run `r` and its step `s`, once its dependents have been skipped. Not of an item, whose map judges it, nor of a
 * compensation, whose end changes nothing.
 */
export const isError: RawBuilder<boolean> = sql<boolean>`(
  r.status IN ('FAILED', 'CANCELLED', 'EXPIRED') AND s.kind IN ('task', 'map', 'workflow')
  AND (NOT EXISTS (SELECT FROM q.workflow_edge e WHERE e.parent_id = r.id)
    OR EXISTS (SELECT FROM q.workflow_edge e JOIN q.task_run c ON c.id = e.child_id
      WHERE e.parent_id = r.id AND c.status = 'SKIPPED' AND c.result ->> 'code' IN ('UPSTREAM_FAILED', 'UPSTREAM_SKIPPED'))))`
