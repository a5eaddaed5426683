/**
 * Handles stale runs: replicas call `reap` on their own; the other two verbs are for people and for systems that decide
 * themselves.
 */
import type { Db } from '../connection/db.ts'
import { removeIdleMarksOfGone } from '../replicas/idle.ts'
import { abandoned, recoverStale, type RecoveryResult } from './recover.ts'
import type { StaleQuery } from './stale.ts'

const result = JSON.stringify(abandoned)

/** CLAIMED → AVAILABLE; RUNNING → AVAILABLE or FAILED, by onCrash. Also removes the idle marks of dead replicas. */
export async function reap(db: Db, query: StaleQuery & { readonly by: string }): Promise<RecoveryResult> {
  await removeIdleMarksOfGone(db)
  return recoverStale(db, query, { goal: 'CRASH', result })
}

/** RUNNING → FAILED, whatever onCrash is. */
export function failStaleTaskRuns(
  db: Db,
  query: Omit<StaleQuery, 'states'> & { readonly by: string },
): Promise<RecoveryResult> {
  return recoverStale(db, { ...query, states: ['RUNNING'] }, { goal: 'CRASH', onCrash: 'fail', result })
}

/** CLAIMED → AVAILABLE: safe, because the code has not begun. */
export function requeueStaleClaimed(
  db: Db,
  query: Omit<StaleQuery, 'states'> & { readonly by: string },
): Promise<RecoveryResult> {
  return recoverStale(db, { ...query, states: ['CLAIMED'] }, { goal: 'AVAILABLE' })
}
