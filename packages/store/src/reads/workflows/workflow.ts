/** Reads workflows with their steps and progress. Takes no locks. */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import type { WorkflowStatus } from '../../workflows/lock.ts'
import type { WorkflowId } from '../../workflows/new-workflow.ts'
import type { StepKind } from '../../workflows/step-rows.ts'

export interface WorkflowView {
  readonly id: WorkflowId
  readonly name: string
  readonly status: WorkflowStatus
  /** The outcome, if it is decided while steps are still open. */
  readonly endsAs: 'FAILED' | 'CANCELLED' | null
  readonly onError: 'fail' | 'pause' | 'continue'
  readonly compensating: boolean
  readonly pausedBy: string | null
  /** The step of the outer workflow, if this is a sub-workflow. */
  readonly parentRunId: RunId | null
  readonly input: unknown
  /** The output of a SUCCEEDED workflow; otherwise `{ code, detail }`, with `step` if a step caused the end. */
  readonly result: unknown
  /** Ended steps, among the existing ones: a map adds its items when it begins. */
  readonly progress: { readonly ended: number; readonly total: number }
  readonly steps: Readonly<Partial<Record<TaskState, number>>>
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

interface WorkflowRow extends Omit<WorkflowView, 'progress' | 'steps'> {
  readonly counts: Partial<Record<TaskState, number>>
}

const allSteps = 2_147_483_647

/** Leaves out workflows that do not exist. `stepsMax`: the most steps that are counted per workflow. */
export async function getWorkflows(
  db: Db,
  ids: readonly WorkflowId[],
  stepsMax: number = allSteps,
): Promise<WorkflowView[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<WorkflowRow>`
SELECT w.id, w.name, w.status, w.ends_as AS "endsAs", w.on_error AS "onError", w.compensated_at IS NOT NULL AND w.finished_at IS NULL AS compensating,
  w.paused_by AS "pausedBy", w.parent_run_id AS "parentRunId", w.input, w.result, w.created_at AS "createdAt", w.finished_at AS "finishedAt",
  (SELECT coalesce(jsonb_object_agg(status, runs), '{}') FROM (
    SELECT r.status, count(*) AS runs FROM (SELECT step.status FROM q.task_run step WHERE step.workflow_id = w.id LIMIT ${stepsMax}::int) r
    GROUP BY r.status) counted) AS counts
FROM q.workflow w WHERE w.id = ANY(${ids}::bigint[]) ORDER BY w.id`.execute(db)
  return rows.map(({ counts, ...row }) => ({ ...row, steps: counts, progress: progressOf(counts) }))
}

const open: readonly TaskState[] = ['PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING']

function progressOf(counts: WorkflowRow['counts']): WorkflowView['progress'] {
  const total = Object.values(counts).reduce((sum, runs) => sum + runs, 0)
  return { total, ended: total - open.reduce((sum, state) => sum + (counts[state] ?? 0), 0) }
}

export interface StepView {
  readonly runId: RunId
  readonly name: string
  readonly kind: StepKind
  readonly task: string
  readonly status: TaskState
  readonly waitingFor: 'parents' | 'workflow' | 'task' | 'time' | 'concurrency' | null
  /** The number of parents, items or sub-workflows that the step still waits for. */
  readonly waitingOn: number
  readonly attempt: number
  /** The code of an end that is not a success. */
  readonly code: string | null
  /** Names of the steps it waits for, or waited for. */
  readonly parents: readonly string[]
  /** The sub-workflow that the step started; null: it is not such a step, or has not begun. */
  readonly subWorkflowId: WorkflowId | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export interface StepPageRequest {
  /** The last step of the previous page. */
  readonly after?: RunId
  /** At most 1 000. */
  readonly limit?: number
}

/** Sorted by id, so parents come before children. Items of a map have no parents. */
export async function listSteps(
  db: Db,
  id: WorkflowId,
  { after, limit = 1_000 }: StepPageRequest = {},
): Promise<StepView[]> {
  // The parents of the page in one pass: for a subquery per step, PostgreSQL may read all steps of all workflows each time.
  const { rows } = await sql<StepView>`
WITH page AS MATERIALIZED (
  SELECT r.id, s.name, s.kind, r.task, r.status, r.waiting_for AS "waitingFor", CASE WHEN r.waiting_for = 'parents' THEN r.waiting_on ELSE 0 END AS "waitingOn",
    r.attempt, CASE WHEN r.finished_at IS NOT NULL AND r.status <> 'SUCCEEDED' THEN r.result ->> 'code' END AS code,
    r.started_at AS "startedAt", r.finished_at AS "finishedAt"
  FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id
  WHERE r.workflow_id = ${id} AND r.id > ${after ?? '0'} ORDER BY r.id LIMIT ${Math.min(Math.max(1, limit), 1_000)}
), named AS MATERIALIZED (
  SELECT e.child_id, array_agg(p.name ORDER BY e.parent_id) AS parents
  FROM q.workflow_edge e JOIN q.workflow_step p ON p.run_id = e.parent_id AND p.kind <> 'item'
  WHERE e.child_id = ANY(ARRAY(SELECT id FROM page)) GROUP BY e.child_id
)
SELECT page.id AS "runId", page.name, kind, task, status, "waitingFor", "waitingOn", attempt, code, coalesce(named.parents, '{}') AS parents,
  (SELECT max(w.id) FROM q.workflow w WHERE w.parent_run_id = page.id) AS "subWorkflowId", "startedAt", "finishedAt"
FROM page LEFT JOIN named ON named.child_id = page.id ORDER BY page.id`.execute(db)
  return rows
}
