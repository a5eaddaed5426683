/**
 * What follows from steps that left their state, in the same transaction, until nothing more follows: dependents are
 * released or skipped, the next items of maps let go, the workflow's policy applied, and workflows ended whose last step
 * has ended, which may end a step of another workflow. Every round ends at least one more step, so it comes to an end.
 *
 * The caller has locked the workflows (lock.ts). However many steps left at once, a round is a handful of statements.
 */
import { isTerminal, type TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { leaveStatement } from '../runs/leave-statement.ts'
import type { Leaving, Left } from '../runs/leave.ts'
import { endWorkflows } from './end.ts'
import { letNextItemsGo } from './map-items.ts'
import type { WorkflowId } from './new-workflow.ts'
import { openSteps } from './open.ts'
import { holdBack } from './pause.ts'
import { applyPolicy } from './policy.ts'
import { releaseDependents } from './release.ts'
import { abandonChildren } from './stop.ts'
import { newTidings, tell, type Tidings } from './tidings.ts'

export async function advance(trx: Db, left: readonly Left[]): Promise<void> {
  const steps = left.filter((run) => run.workflowId !== null)
  if (steps.length === 0) return
  const tidings = newTidings()
  const again = steps.filter((run) => !isTerminal(run.status))
  await holdBack(
    trx,
    again.map((run) => run.id),
    tidings,
  )
  await follow(
    trx,
    steps.filter((run) => isTerminal(run.status)),
    [],
    tidings,
  )
  await tell(trx, tidings)
}

/** `also`: workflows that may be at their end for another reason than these steps. */
export async function follow(
  trx: Db,
  first: readonly Left[],
  also: readonly WorkflowId[],
  tidings: Tidings,
): Promise<void> {
  let ended = first
  let looked = also
  while (ended.length > 0 || looked.length > 0) {
    const atEnd = [...new Set([...looked, ...(await countEnds(trx, ended))])]
    const { skipped, ready } = await releaseDependents(trx, ended, tidings)
    await letNextItemsGo(trx, ended, tidings)
    ended = [
      ...(await leaveSteps(trx, ['PENDING'], skipped, tidings)),
      ...(await openSteps(trx, ready, tidings)),
      ...(await abandonChildren(trx, ended, tidings)),
      ...(await applyPolicy(trx, ended, skipped, tidings)),
      ...(await endWorkflows(trx, atEnd, tidings)),
    ]
    looked = []
  }
}

/** Steps leave like all runs; what follows is the caller's next round. */
export async function leaveSteps(
  trx: Db,
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  tidings: Tidings,
): Promise<Left[]> {
  if (leavings.length === 0) return []
  const { rows } = await trx.executeQuery(leaveStatement(from, leavings, { steps: true }))
  for (const { openKey } of rows) if (openKey !== null) tidings.keys.add(openKey)
  return rows
}

/** Workflows that have no open step any more. */
async function countEnds(trx: Db, ended: readonly Left[]): Promise<WorkflowId[]> {
  if (ended.length === 0) return []
  const counts = Map.groupBy(ended, (run) => run.workflowId)
  const ids = [...counts.keys()].flatMap((id) => id ?? [])
  const { rows } = await sql<{ id: WorkflowId; empty: boolean }>`
UPDATE q.workflow w SET open_steps = greatest(0, w.open_steps - g.ended), updated_at = clock_timestamp()
FROM unnest(${ids}::bigint[], ${ids.map((id) => counts.get(id)?.length ?? 0)}::int[]) AS g(id, ended) WHERE w.id = g.id
RETURNING w.id, w.open_steps = 0 AS empty`.execute(trx)
  return rows.filter((row) => row.empty).map((row) => row.id)
}
