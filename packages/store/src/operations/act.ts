/**
 * Applies an operation to the runs of one step, with the verbs for single runs: first to all runs at once. If the
 * database rejects one run, or another transaction has locked one, it applies the operation to each run alone, so that
 * one run does not delay the others.
 *
 * The locks are taken in the order that all transactions keep: workflows, then runs, each in the order of ids.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { reviewRecoveries } from '../liveness/review.ts'
import { cancelTaskRuns } from '../runs/cancel.ts'
import { retryInTransaction } from '../runs/retry.ts'
import { isAboutRows, isLockTimeout } from '../connection/sql-state.ts'
import { lockWorkflowsOf } from '../workflows/lock.ts'
import type { OperationKind } from './operation.ts'

export interface Acted {
  /** One answer per run. `busy`: another transaction has locked it. `refused`: the database rejects the change. */
  readonly answers: readonly string[]
  readonly changed: number
  /** Concurrency keys to promote after the commit. */
  readonly keys: readonly string[]
}

export interface Actor {
  /** The id of the operation. */
  readonly id: string
  readonly by: string
}

const changing = new Set(['retried', 'cancelled', 'requested', 'reviewed'])

export async function act(trx: Db, kind: OperationKind, runIds: readonly RunId[], actor: Actor): Promise<Acted> {
  if (runIds.length === 0) return { answers: [], changed: 0, keys: [] }
  const ids = runIds.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const whole = await attempt(trx, () => actOn(trx, kind, ids, actor))
  return typeof whole === 'string' ? actOnEach(trx, kind, ids, actor) : whole
}

async function actOnEach(trx: Db, kind: OperationKind, ids: readonly RunId[], actor: Actor): Promise<Acted> {
  const answers: string[] = []
  const keys: string[] = []
  for (const id of ids) {
    const one = await attempt(trx, () => actOn(trx, kind, [id], actor))
    answers.push(...(typeof one === 'string' ? [one] : one.answers))
    if (typeof one !== 'string') keys.push(...one.keys)
  }
  return { answers, keys, changed: changesIn(answers) }
}

async function actOn(trx: Db, kind: OperationKind, ids: readonly RunId[], actor: Actor): Promise<Acted> {
  await lockWorkflowsOf(trx, ids)
  switch (kind) {
    case 'retry': {
      const { answers, keys } = await retryInTransaction(trx, ids)
      return { answers, keys, changed: changesIn(answers) }
    }
    case 'cancel': {
      const answers = await cancelTaskRuns(trx, ids, `Cancelled by operation ${actor.id} of ${actor.by}.`)
      return { answers, keys: [], changed: changesIn(answers) }
    }
    case 'review': {
      await reviewRecoveries(trx, { runIds: ids, by: actor.by })
      return { answers: ids.map(() => 'reviewed'), keys: [], changed: ids.length }
    }
  }
}

function changesIn(answers: readonly string[]): number {
  return answers.filter((answer) => changing.has(answer)).length
}

/**
 * Applies the change to one run. If the rows do not allow it, only this change is rolled back; other errors end the
 * step.
 */
async function attempt<T>(trx: Db, work: () => Promise<T>): Promise<T | 'busy' | 'refused'> {
  await sql`SAVEPOINT attempt`.execute(trx)
  try {
    const done = await work()
    await sql`RELEASE SAVEPOINT attempt`.execute(trx)
    return done
  } catch (error) {
    if (!isLockTimeout(error) && !isAboutRows(error)) throw error
    await sql`ROLLBACK TO SAVEPOINT attempt`.execute(trx)
    await sql`RELEASE SAVEPOINT attempt`.execute(trx)
    return isLockTimeout(error) ? 'busy' : 'refused'
  }
}
