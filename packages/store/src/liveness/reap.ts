/**
 * What is done about stale runs: `reap` is what replicas do by themselves; the other two are the sources' verbs, for
 * people and for systems that decide on their own.
 */
import type { Db } from '../db.ts'
import { removeIdleMarksOfGone } from '../replicas/idle.ts'
import { abandoned, recoverStale, type Recovered } from './recover.ts'
import type { StaleQuestion } from './stale.ts'

const result = JSON.stringify(abandoned)

/** CLAIMED → AVAILABLE; RUNNING → AVAILABLE or FAILED, by the run's onCrash. Removes the idle marks of dead replicas too. */
export async function reap(db: Db, question: StaleQuestion & { readonly by: string }): Promise<Recovered> {
  await removeIdleMarksOfGone(db)
  return recoverStale(db, question, { goal: 'CRASH', result })
}

/** RUNNING → FAILED, whatever the run's onCrash says. */
export function failStaleTaskRuns(
  db: Db,
  question: Omit<StaleQuestion, 'states'> & { readonly by: string },
): Promise<Recovered> {
  return recoverStale(db, { ...question, states: ['RUNNING'] }, { goal: 'CRASH', onCrash: 'fail', result })
}

/** CLAIMED → AVAILABLE: safe, the code never began. */
export function requeueStaleClaimed(
  db: Db,
  question: Omit<StaleQuestion, 'states'> & { readonly by: string },
): Promise<Recovered> {
  return recoverStale(db, { ...question, states: ['CLAIMED'] }, { goal: 'AVAILABLE' })
}
