/**
 * Applies the consequences of steps that changed state, in the same transaction, until there are no more: releases or
 * skips dependents, releases the next items of maps, applies the workflow's policy, and ends workflows whose last step
 * has ended, which may end a step of another workflow. Every round ends at least one more step, so the loop terminates.
 *
 * The caller has locked the workflows (lock.ts). A round takes a handful of statements, however many steps changed.
 */
import { isTerminal } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { Transitioned } from '../runs/transition.ts'
import { endWorkflows } from './end.ts'
import { releaseNextItems } from './map-items.ts'
import type { WorkflowId } from './new-workflow.ts'
import { activateSteps } from './activate-steps.ts'
import { holdSteps } from './hold-steps.ts'
import { applyPolicy } from './policy.ts'
import { releaseDependents } from './release.ts'
import { abandonChildren } from './stop.ts'
import { transitionSteps } from './transition-steps.ts'
import { newPendingWakes, flushWakes, type PendingWakes } from './pending-wakes.ts'

export async function advance(trx: Db, changed: readonly Transitioned[]): Promise<void> {
  const steps = changed.filter((run) => run.workflowId !== null)
  if (steps.length === 0) return
  const wakes = newPendingWakes()
  const again = steps.filter((run) => !isTerminal(run.status))
  await holdSteps(
    trx,
    again.map((run) => run.id),
    wakes,
  )
  await propagateEnds(
    trx,
    steps.filter((run) => isTerminal(run.status)),
    [],
    wakes,
  )
  await flushWakes(trx, wakes)
}

/** `also`: workflows that may have ended for another reason than these steps. */
export async function propagateEnds(
  trx: Db,
  first: readonly Transitioned[],
  also: readonly WorkflowId[],
  wakes: PendingWakes,
): Promise<void> {
  let ended = first
  let looked = also
  while (ended.length > 0 || looked.length > 0) {
    const atEnd = [...new Set([...looked, ...(await countEnds(trx, ended))])]
    const { skipped, ready } = await releaseDependents(trx, ended, wakes)
    await releaseNextItems(trx, ended, wakes)
    ended = [
      ...(await transitionSteps(trx, ['PENDING'], skipped, wakes)),
      ...(await activateSteps(trx, ready, wakes)),
      ...(await abandonChildren(trx, ended, wakes)),
      ...(await applyPolicy(trx, ended, skipped, wakes)),
      ...(await endWorkflows(trx, atEnd, wakes)),
    ]
    looked = []
  }
}

/** Returns the workflows that have no open steps left. */
async function countEnds(trx: Db, ended: readonly Transitioned[]): Promise<WorkflowId[]> {
  if (ended.length === 0) return []
  const counts = Map.groupBy(ended, (run) => run.workflowId)
  const ids = [...counts.keys()].flatMap((id) => id ?? [])
  const { rows } = await sql<{ id: WorkflowId; empty: boolean }>`
UPDATE q.workflow w SET open_steps = greatest(0, w.open_steps - g.ended), updated_at = clock_timestamp()
FROM unnest(${ids}::bigint[], ${ids.map((id) => counts.get(id)?.length ?? 0)}::int[]) AS g(id, ended) WHERE w.id = g.id
RETURNING w.id, w.open_steps = 0 AS empty`.execute(trx)
  return rows.filter((row) => row.empty).map((row) => row.id)
}
