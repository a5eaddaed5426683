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

/** Those that ended for it. */
export async function applyPolicy(
  trx: Db,
  ended: readonly Left[],
  skipped: readonly Leaving[],
  tidings: Tidings,
): Promise<Left[]> {
  const bad = ended.filter(({ status }) => status !== 'SUCCEEDED' && status !== 'SKIPPED')
  if (bad.length === 0) return []
  const { rows } = await sql<{ id: WorkflowId; policy: 'fail' | 'pause' }>`
SELECT DISTINCT w.id, w.on_error AS policy
FROM q.workflow_step s JOIN q.workflow w ON w.id = s.workflow_id
WHERE s.run_id = ANY(${bad.map((run) => run.id)}::bigint[]) AND ${isOfTheGraph(sql`s`)}
  AND w.finished_at IS NULL AND w.ends_as IS NULL AND (w.on_error = 'fail' OR w.on_error = 'pause' AND w.status = 'RUNNING')
  AND (NOT EXISTS (SELECT FROM q.workflow_edge e WHERE e.parent_id = s.run_id)
    OR EXISTS (SELECT FROM q.workflow_edge e WHERE e.parent_id = s.run_id
      AND e.child_id = ANY(${skipped.map((run) => run.runId)}::bigint[])))`.execute(trx)
  const pausing = rows.filter((row) => row.policy === 'pause').map((row) => row.id)
  const failing = rows.filter((row) => row.policy === 'fail').map((row) => row.id)
  if (pausing.length > 0) await pauseAll(trx, pausing, 'a step that failed', tidings)
  return stopWorkflows(trx, failing, 'FAILED', tidings)
}

/** Not an item, whose map judges it, nor a compensation, whose end changes nothing. */
export function isOfTheGraph(step: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${step}.kind IN ('task', 'map', 'workflow')`
}
