/**
 * Heals workflows that contradict themselves (findings.ts) by doing what should have been done, on the ways everything
 * else takes: accounts are made anew, then steps are released, skipped, held back or let go, and workflows ended.
 *
 * Safe beside everything that goes on: a workflow is looked at without a lock; what was found is looked for again under
 * its lock before anything is changed. One that somebody has locked is left for the next time. Results that are missing
 * need no repair: whoever asks for one is told so in its place (step-values.ts).
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { follow, leaveSteps } from './advance.ts'
import { findingsIn, type Finding } from './findings.ts'
import { letNextItemsGo } from './map-items.ts'
import type { WorkflowId } from './new-workflow.ts'
import { openSteps } from './open.ts'
import { holdAllBack, withoutOpenSteps } from './pause.ts'
import { recount, recountOpen } from './recount.ts'
import { cancelOpen } from './stop.ts'
import { newTidings, tell } from './tidings.ts'

export interface RepairRequest {
  /** Where the last call stopped; undefined: from the beginning. */
  readonly after?: WorkflowId
  /** Workflows looked at. */
  readonly limit: number
}

export interface Repaired {
  /** What was wrong, and is not any more. */
  readonly healed: readonly Finding[]
  /** Where to go on; undefined: all that live were looked at. */
  readonly next: WorkflowId | undefined
}

export async function repairWorkflows(db: Db, { after, limit }: RepairRequest): Promise<Repaired> {
  const { rows } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE finished_at IS NULL AND id > ${after ?? '0'} ORDER BY id LIMIT ${limit}`.execute(db)
  const seen = rows.map((row) => row.id)
  const healed: Finding[] = []
  const roots = new Set((await findingsIn(db, seen)).map((finding) => finding.rootId))
  for (const rootId of roots) healed.push(...(await heal(db, rootId)))
  return { healed, next: seen.length < limit ? undefined : seen.at(-1) }
}

async function heal(db: Db, rootId: WorkflowId): Promise<readonly Finding[]> {
  return inTransaction(db, async (trx) => {
    const family = await lockUnlessBusy(trx, rootId)
    const found = await findingsIn(trx, family)
    if (found.length === 0) return []
    const tidings = newTidings()
    await recountOpen(trx, family)
    const ended = await cancelOpen(trx, workflowsWith(found, 'not-stopped'), tidings)
    await holdAllBack(trx, workflowsWith(found, 'not-held-back'), tidings)
    const { ready, skipped } = await recount(trx, family)
    ended.push(...(await leaveSteps(trx, ['PENDING'], skipped, tidings)))
    ended.push(...(await openSteps(trx, [...ready, ...runsWith(found, 'held-back')], tidings)))
    await letNextItemsGo(trx, [], tidings, runsWith(found, 'items-waiting'))
    await follow(trx, ended, await withoutOpenSteps(trx, family), tidings)
    await tell(trx, tidings)
    return found
  })
}

/** With its inner workflows. Empty: somebody is at it. */
async function lockUnlessBusy(trx: Db, rootId: WorkflowId): Promise<WorkflowId[]> {
  const { rows: locked } = await sql`
    SELECT id FROM q.workflow WHERE id = ${rootId} FOR NO KEY UPDATE SKIP LOCKED`.execute(trx)
  if (locked.length === 0) return []
  const { rows } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE id = ${rootId} OR root_id = ${rootId} ORDER BY id`.execute(trx)
  return rows.map((row) => row.id)
}

function workflowsWith(found: readonly Finding[], fault: Finding['fault']): WorkflowId[] {
  return [...new Set(found.filter((finding) => finding.fault === fault).map((finding) => finding.workflowId))]
}

function runsWith(found: readonly Finding[], fault: Finding['fault']): RunId[] {
  return found.flatMap((finding) => (finding.fault === fault ? (finding.runId ?? []) : []))
}
