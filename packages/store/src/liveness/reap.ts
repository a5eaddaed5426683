/**
 * What is done about stale runs: `reap` is what replicas do by themselves; the other two are the sources' verbs, for
 * people and for systems that decide on their own.
 */
import type { Db } from '../db.ts'
import { abandoned, recoverStale, type Recovered } from './recover.ts'
import type { StaleQuestion } from './stale.ts'

const result = JSON.stringify(abandoned)

/** CLAIMED → AVAILABLE; RUNNING → by the run's own onCrash, else its holder's, else FAILED. */
export function reap(db: Db, question: StaleQuestion & { readonly by: string }): Promise<Recovered> {
  return recoverStale(db, question, (run) => ({
    goal: 'CRASH',
    result,
    ...(run.onCrash === null ? {} : { onCrash: run.onCrash }),
  }))
}

/** RUNNING → FAILED, whatever the run's onCrash says. */
export function failStaleTaskRuns(
  db: Db,
  question: Omit<StaleQuestion, 'states'> & { readonly by: string },
): Promise<Recovered> {
  return recoverStale(db, { ...question, states: ['RUNNING'] }, () => ({ goal: 'FAILED', result }))
}

/** CLAIMED → AVAILABLE: safe, the code never began. */
export function requeueStaleClaimed(
  db: Db,
  question: Omit<StaleQuestion, 'states'> & { readonly by: string },
): Promise<Recovered> {
  return recoverStale(db, { ...question, states: ['CLAIMED'] }, () => ({ goal: 'AVAILABLE' }))
}
