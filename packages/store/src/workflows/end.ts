/**
 * RUNNING → SUCCEEDED | FAILED | CANCELLED, of workflows whose last step has ended
 *
 * The steps decide the outcome, unless it was decided before: FAILED if a step ended without success and no dependent
 * tolerates that (policy.ts). A workflow that did not succeed first runs the compensations of its steps one after the
 * other, starting with the step that succeeded last; each runs whatever the outcome of the one before, and none changes
 * the outcome of the workflow. A sub-workflow ends its step of the outer workflow in the same transaction.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transitioned } from '../runs/transition.ts'
import { endedWakes } from '../wakes.ts'
import { endStructuralSteps } from './structural-steps.ts'
import { beginCompensation } from './compensate.ts'
import { inputAndDefinition, parsed, type Definition, type WorkflowId, type Written } from './new-workflow.ts'
import { isError } from './step-error.ts'
import { filledTemplate, listBytesMax } from './step-values.ts'
import type { PendingWakes } from './pending-wakes.ts'

interface EndingWorkflow {
  readonly id: WorkflowId
  /** The step that ends with it. Null: there is none, or a retry has created another workflow for it. */
  readonly parentRunId: RunId | null
  readonly endsAs: 'FAILED' | 'CANCELLED' | null
  readonly compensated: boolean
  readonly input: unknown
  readonly definition: Definition
}

export interface WorkflowEnd {
  readonly id: WorkflowId
  readonly status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED'
  /** JSON text. */
  readonly result: string
}

/** Ends those of `ids` that have no open steps. Returns the steps of other workflows that ended with them. */
export async function endWorkflows(trx: Db, ids: readonly WorkflowId[], wakes: PendingWakes): Promise<Transitioned[]> {
  const endings = await atTheirEnd(trx, ids)
  if (endings.length === 0) return []
  const errors = await errorsOf(
    trx,
    endings.map((ending) => ending.id),
  )
  const ends: WorkflowEnd[] = []
  for (const ending of endings) {
    const error = errors.get(ending.id)
    const status = ending.endsAs ?? (error === undefined ? 'SUCCEEDED' : 'FAILED')
    if (status !== 'SUCCEEDED' && !ending.compensated && (await beginCompensation(trx, ending, status, wakes))) continue
    ends.push(await endOf(trx, ending, status, error))
  }
  await write(trx, ends)
  const parents = new Map(endings.map(({ id, parentRunId }) => [id, parentRunId]))
  return endStructuralSteps(
    trx,
    ends.flatMap(({ id, status, result }) => {
      const parent = parents.get(id) ?? null
      return parent === null ? [] : [{ id: parent, goal: status, result }]
    }),
    wakes,
  )
}

async function atTheirEnd(trx: Db, ids: readonly WorkflowId[]): Promise<readonly EndingWorkflow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<Written<EndingWorkflow>>`
SELECT id, CASE WHEN NOT EXISTS (SELECT FROM q.workflow later WHERE later.parent_run_id = w.parent_run_id AND later.id > w.id)
  THEN parent_run_id END AS "parentRunId", ends_as AS "endsAs", compensated_at IS NOT NULL AS compensated, ${inputAndDefinition}
FROM q.workflow w WHERE id = ANY(${ids}::bigint[]) AND open_steps = 0 AND status = 'RUNNING' ORDER BY id`.execute(trx)
  return rows.map(parsed)
}

interface StepError {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly status: string
  readonly code: string
  readonly detail: string | null
}

/** Returns the first error of each workflow that no dependent tolerates. */
async function errorsOf(trx: Db, ids: readonly WorkflowId[]): Promise<ReadonlyMap<WorkflowId, StepError>> {
  const { rows } = await sql<StepError>`
SELECT DISTINCT ON (s.workflow_id) s.workflow_id AS "workflowId", s.name, r.status, r.result ->> 'code' AS code, r.result ->> 'detail' AS detail
FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id
WHERE r.workflow_id = ANY(${ids}::bigint[]) AND ${isError}
ORDER BY s.workflow_id, r.finished_at, r.id`.execute(trx)
  return new Map(rows.map((row) => [row.workflowId, row]))
}

async function endOf(
  trx: Db,
  { id, input, definition }: EndingWorkflow,
  status: WorkflowEnd['status'],
  error: StepError | undefined,
): Promise<WorkflowEnd> {
  if (status === 'CANCELLED')
    return { id, status, result: JSON.stringify({ code: 'TASK_CANCELLED', detail: 'The workflow was cancelled.' }) }
  if (status === 'FAILED') {
    const { name = '', code = 'UPSTREAM_FAILED', detail = null, status: was = 'FAILED' } = error ?? {}
    return {
      id,
      status,
      result: JSON.stringify({ code, detail: `Step "${name}" ended ${was}: ${detail ?? code}`, step: name }),
    }
  }
  const { output } = definition
  if (output === null || output === undefined) return { id, status, result: 'null' }
  const { text: result, tooLarge } = await filledTemplate(trx, { id, input }, output)
  if (!tooLarge && Buffer.byteLength(result) <= listBytesMax) return { id, status, result }
  const detail = `Its output, or a list in it, has more than ${listBytesMax} bytes as JSON.`
  return { id, status: 'FAILED', result: JSON.stringify({ code: 'RESULT_TOO_LARGE', detail }) }
}

/** Writes the ends and wakes only the callers that wait for them. */
async function write(trx: Db, ends: readonly WorkflowEnd[]): Promise<void> {
  if (ends.length === 0) return
  const ids = ends.map((end) => end.id)
  await sql`
WITH ended AS (
  UPDATE q.workflow w SET status = g.status, result = g.result::jsonb, finished_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM unnest(${ids}::bigint[], ${ends.map((end) => end.status)}::q.workflow_status[], ${ends.map((end) => end.result)}::text[]) AS g(id, status, result)
  WHERE w.id = g.id RETURNING w.id, w.status
), awaited AS (
  DELETE FROM q.awaited_workflow USING ended WHERE workflow_id = ended.id
  RETURNING 'w' || workflow_id AS id, ended.status::text AS status
)
SELECT count(pg_notify(channel, payload))::int AS sent FROM ${endedWakes(sql`awaited`)}`.execute(trx)
}
