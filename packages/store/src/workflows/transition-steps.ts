/**
 * Applies transitions to steps of workflows that the caller has locked, and collects the concurrency keys that became
 * free. The caller propagates what follows for dependents (advance.ts).
 */
import type { TaskState } from '@q/schema'
import type { Db } from '../connection/db.ts'
import { transitionStatement } from '../runs/transition-statement.ts'
import type { Transition, Transitioned } from '../runs/transition.ts'
import type { PendingWakes } from './pending-wakes.ts'

export async function transitionSteps(
  trx: Db,
  from: readonly TaskState[],
  transitions: readonly Transition[],
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  if (transitions.length === 0) return []
  const { rows } = await trx.executeQuery(transitionStatement(from, transitions, { steps: true }))
  for (const { openKey } of rows) if (openKey !== null) wakes.keys.add(openKey)
  return rows
}
