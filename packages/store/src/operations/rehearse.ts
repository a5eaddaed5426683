/**
 * Finds out what an operation would answer for single runs, by the verbs themselves: each run in a transaction that is
 * always rolled back, so the answer cannot differ from the rules of the verb. PostgreSQL sends no wake of such a
 * transaction. One run at a time: a rejected change of one run must not spoil the answer for the next.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { reviewRecoveries } from '../liveness/review.ts'
import { cancelTaskRuns, type CancelAnswer } from '../runs/cancel.ts'
import { retryTaskRun, type RetryAnswer } from '../runs/retry.ts'

export function rehearseRetry(db: Db, ids: readonly RunId[]): Promise<RetryAnswer[]> {
  return rehearseEach(db, ids, (trx, id) => retryTaskRun(trx, id))
}

export function rehearseCancel(db: Db, ids: readonly RunId[]): Promise<CancelAnswer[]> {
  return rehearseEach(db, ids, async (trx, id) => (await cancelTaskRuns(trx, [id]))[0] ?? 'not-found')
}

/** Returns the number of recoveries of these runs that need a review. */
export async function rehearseReview(db: Db, runIds: readonly RunId[]): Promise<number> {
  const counts = await rehearseEach(db, [...new Set(runIds)], (trx, id) =>
    reviewRecoveries(trx, { runIds: [id], by: 'a rehearsal' }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function rehearseEach<T>(db: Db, ids: readonly RunId[], act: (trx: Db, id: RunId) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  for (const id of ids) answers.push(await rolledBack(db, (trx) => act(trx, id)))
  return answers
}

/** In a caller's transaction only the rehearsal is rolled back. */
async function rolledBack<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  let answer: { readonly of: T } | undefined
  const undo = new Error('A rehearsal was rolled back.')
  await inTransaction(db, async (trx) => {
    await sql`SAVEPOINT rehearsal`.execute(trx)
    answer = { of: await work(trx) }
    await sql`ROLLBACK TO SAVEPOINT rehearsal`.execute(trx)
    if (!db.isTransaction) throw undo
  }).catch((error: unknown) => {
    if (error !== undo) throw error
  })
  if (answer === undefined) throw new Error('A rehearsal ended without an answer.')
  return answer.of
}
