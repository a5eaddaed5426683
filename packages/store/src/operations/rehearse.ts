/**
 * Finds out what a verb would answer for single runs, by the verb itself, in one transaction that is always rolled back. So
 * the answer cannot differ from the rules of the verb, and a run sees the changes of the runs before it: of two runs with one
 * unique key only the first can be retried. PostgreSQL sends no wake of such a transaction.
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

/** Returns the number of recoveries of these runs that would be marked as reviewed. */
export async function rehearseReview(db: Db, runIds: readonly RunId[]): Promise<number> {
  const counts = await rehearseEach(db, [...new Set(runIds)], (trx, id) =>
    reviewRecoveries(trx, { runIds: [id], by: 'a rehearsal' }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function rehearseEach<T>(db: Db, ids: readonly RunId[], act: (trx: Db, id: RunId) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  await rolledBack(db, async (trx) => {
    for (const id of ids) answers.push(await step(trx, () => act(trx, id)))
  })
  return answers
}

/** Keeps a change that the database refuses from spoiling the answers for the next runs. */
async function step<T>(trx: Db, act: () => Promise<T>): Promise<T> {
  await sql`SAVEPOINT step`.execute(trx)
  const answer = await act()
  // In a failed transaction RELEASE fails.
  await sql`RELEASE SAVEPOINT step`.execute(trx).catch(() => sql`ROLLBACK TO SAVEPOINT step`.execute(trx))
  return answer
}

/** In a caller's transaction only the rehearsal is rolled back. */
async function rolledBack(db: Db, work: (trx: Db) => Promise<void>): Promise<void> {
  const undo = new Error('A rehearsal was rolled back.')
  await inTransaction(db, async (trx) => {
    await sql`SAVEPOINT rehearsal`.execute(trx)
    await work(trx)
    await sql`ROLLBACK TO SAVEPOINT rehearsal`.execute(trx)
    if (!db.isTransaction) throw undo
  }).catch((error: unknown) => {
    if (error !== undo) throw error
  })
}
