/**
 * Repairs inconsistent workflows (inconsistencies.ts) with the same functions that everything else uses: it recounts, then
 * releases, skips, holds or activates steps, and ends workflows.
 *
 * Safe beside concurrent work: workflows are checked without a lock, and checked again under their lock before anything is
 * changed. A workflow that another session has locked is left to the next call. Missing results need no repair: reads
 * return an error in their place (step-values.ts).
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { propagateEnds } from './advance.ts'
import { transitionSteps } from './transition-steps.ts'
import { inconsistenciesIn, type Inconsistency } from './inconsistencies.ts'
import { releaseNextItems } from './map-items.ts'
import type { WorkflowId } from './new-workflow.ts'
import { activateSteps } from './activate-steps.ts'
import { holdWorkflows, withoutOpenSteps } from './hold-steps.ts'
import { recount, recountOpen } from './recount.ts'
import { cancelOpen } from './stop.ts'
import { newPendingWakes, flushWakes } from './pending-wakes.ts'

export interface RepairRequest {
  /** Where the last call stopped. Undefined: start from the beginning. */
  readonly after?: WorkflowId
  /** How many workflows to check. */
  readonly limit: number
}

export interface RepairResult {
  /** The inconsistencies that it repaired. */
  readonly repaired: readonly Inconsistency[]
  /** Where to continue. Undefined: all open workflows have been checked. */
  readonly next: WorkflowId | undefined
}

export async function repairWorkflows(db: Db, { after, limit }: RepairRequest): Promise<RepairResult> {
  const { rows } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE finished_at IS NULL AND id > ${after ?? '0'} ORDER BY id LIMIT ${limit}`.execute(db)
  const seen = rows.map((row) => row.id)
  const repaired: Inconsistency[] = []
  const roots = new Set((await inconsistenciesIn(db, seen)).map((inconsistency) => inconsistency.rootId))
  for (const rootId of roots) repaired.push(...(await repairWorkflow(db, rootId)))
  return { repaired, next: seen.length < limit ? undefined : seen.at(-1) }
}

async function repairWorkflow(db: Db, rootId: WorkflowId): Promise<readonly Inconsistency[]> {
  return inTransaction(db, async (trx) => {
    const family = await lockUnlessBusy(trx, rootId)
    const found = await inconsistenciesIn(trx, family)
    if (found.length === 0) return []
    const wakes = newPendingWakes()
    await recountOpen(trx, family)
    const ended = await cancelOpen(trx, workflowsWith(found, 'not-stopped'), wakes)
    await holdWorkflows(trx, workflowsWith(found, 'not-held-back'), wakes)
    const { ready, skipped } = await recount(trx, family)
    ended.push(...(await transitionSteps(trx, ['PENDING'], skipped, wakes)))
    ended.push(...(await activateSteps(trx, [...ready, ...runsWith(found, 'held-back')], wakes)))
    await releaseNextItems(trx, [], wakes, runsWith(found, 'items-waiting'))
    await propagateEnds(trx, ended, await withoutOpenSteps(trx, family), wakes)
    await flushWakes(trx, wakes)
    return found
  })
}

/** Locks the workflow with its sub-workflows. Returns an empty list if another session has locked it. */
async function lockUnlessBusy(trx: Db, rootId: WorkflowId): Promise<WorkflowId[]> {
  const { rows: locked } = await sql`
    SELECT id FROM q.workflow WHERE id = ${rootId} FOR NO KEY UPDATE SKIP LOCKED`.execute(trx)
  if (locked.length === 0) return []
  const { rows } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE id = ${rootId} OR root_id = ${rootId} ORDER BY id`.execute(trx)
  return rows.map((row) => row.id)
}

function workflowsWith(found: readonly Inconsistency[], kind: Inconsistency['kind']): WorkflowId[] {
  return [
    ...new Set(
      found.filter((inconsistency) => inconsistency.kind === kind).map((inconsistency) => inconsistency.workflowId),
    ),
  ]
}

function runsWith(found: readonly Inconsistency[], kind: Inconsistency['kind']): RunId[] {
  return found.flatMap((inconsistency) => (inconsistency.kind === kind ? (inconsistency.runId ?? []) : []))
}
