/**
 * How a run leaves the state it is in, by whosoever's decision: settled or given back by its holder, cancelled by a
 * person, expired, reaped. One statement for all of them, so all of them do the same things, together or not at all:
 *
 *   the run        its next state, its counts, and a higher fence unless its holder ends it
 *   history        a row for an attempt that ended, unless it succeeded
 *   beats          removed
 *   its slot       of a concurrency key: handed to the next run that waits for the key, never to two
 *   a wake         for those who await its end
 *   a report       for destinations that want to know
 *   dependents     in its workflow: released, or skipped, in the same transaction (workflows/release.ts)
 *
 * Whatever would let a run be started again ends it CANCELLED if its cancelling was requested.
 *
 * The statement itself is leave-statement.ts.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { releaseDependents } from '../workflows/release.ts'
import { leaveStatement, type LeaveOptions } from './leave-statement.ts'
import { promoteKeys } from './promote.ts'

export interface Leaving {
  readonly runId: RunId
  /** Null only for those who decide without holding it: cancel and expire. */
  readonly fence: number | null
  readonly goal: Goal
  /** JSON text: of SUCCEEDED the return value, of every other end, also one that RETRY or CRASH may come to, code and detail. */
  readonly result?: string
  /** PENDING and RETRY: how long from now. */
  readonly delayMs?: number
  /** RETRY: doubled with every attempt, up to this cap, with jitter; without a cap it is exact. */
  readonly delayMsMax?: number
  /** CRASH: what the run's holder registered, for a run whose task says nothing. */
  readonly onCrash?: 'fail' | 'retry'
  /** The attempt does not count. */
  readonly giveBack?: boolean
  /** Decided by somebody else: the holder's lease is void, also if this is the end. */
  readonly revoke?: boolean
  readonly by?: { readonly hostname: string; readonly pid: number; readonly thread: number }
}

export type Goal =
  | 'SUCCEEDED'
  | 'FAILED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'SKIPPED'
  | 'AVAILABLE'
  | 'PENDING'
  /** Later again if attempts are left, else FAILED. */
  | 'RETRY'
  /** Its holder died: AVAILABLE or FAILED, by its onCrash and its crash count. */
  | 'CRASH'

export interface Left {
  readonly id: RunId
  /** Under which it was held, or waited. */
  readonly fence: number
  readonly was: TaskState
  readonly status: TaskState
  /** Of an end that is not a success. */
  readonly code: string | null
  /** A concurrency key whose slot was freed and not handed on: promote it after the commit. */
  readonly openKey: string | null
  /** A step of a workflow that was passed over, because its dependents need a transaction. */
  readonly passedOver: boolean
}

/**
 * Those that were in one of the states `from` under their fence, in no particular order; the others are not mentioned.
 */
export async function leaveRuns(
  db: Db,
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  options: Omit<LeaveOptions, 'steps'> = {},
): Promise<Left[]> {
  if (leavings.length === 0) return []
  if (db.isTransaction) return leaveWithDependents(db, from, leavings, options)
  const left = (await db.executeQuery(leaveStatement(from, leavings, options))).rows
  const passedOver = new Set(left.filter((run) => run.passedOver).map((run) => run.id))
  if (passedOver.size === 0) return left
  const steps = leavings.filter(({ runId }) => passedOver.has(runId))
  const others = await inTransaction(db, (trx) => leaveWithDependents(trx, from, steps, options))
  return [...left.filter((run) => !run.passedOver), ...others]
}

async function leaveWithDependents(
  trx: Db,
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  options: Omit<LeaveOptions, 'steps'>,
): Promise<Left[]> {
  const left = (await trx.executeQuery(leaveStatement(from, leavings, { ...options, steps: true }))).rows
  const ended = left.filter((run) => isTerminal(run.status))
  const { skipped, keys } = await releaseDependents(trx, ended)
  await promoteKeys(trx, keys)
  // A step that is skipped has dependents of its own; a graph without cycles comes to an end.
  if (skipped.length > 0) await leaveWithDependents(trx, ['PENDING'], skipped, {})
  return left
}
