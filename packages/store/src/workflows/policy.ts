/**
 * Applies a workflow's policy to steps that ended without success
 *
 * Such an end (FAILED, CANCELLED, EXPIRED) is tolerated if the step has dependents and none of them was skipped because
 * of it: their joins do not need it, or they allow failed parents. Every other such end is an error of the workflow. A
 * skipped step is not an error.
 *
 *   fail      steps that have not started are SKIPPED, running steps are asked to stop, the workflow ends FAILED
 *   pause     no step starts; a person resumes the workflow or retries the failed steps
 *   continue  only dependents are skipped; the workflow ends FAILED when all steps have ended
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { Transition, Transitioned } from '../runs/transition.ts'
import type { WorkflowId } from './new-workflow.ts'
import { pauseAll } from './hold-steps.ts'
import { isError } from './step-error.ts'
import { stopWorkflows } from './stop.ts'
import type { PendingWakes } from './pending-wakes.ts'

/**
 * Returns the steps that ended because of it. A tolerated end can become an error later, when a dependent that did not
 * need it is skipped.
 */
export async function applyPolicy(
  trx: Db,
  ended: readonly Transitioned[],
  skipped: readonly Transition[],
  wakes: PendingWakes,
): Promise<Transitioned[]> {
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
  if (pausing.length > 0) await pauseAll(trx, pausing, 'a step that failed', wakes)
  return stopWorkflows(trx, failing, 'FAILED', wakes)
}
