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
 *   its workflow   dependents are released or skipped, policies applied, in the same transaction (workflows/advance.ts)
 *
 * Whatever would let a run be started again ends it CANCELLED if its cancelling was requested.
 *
 * The statement itself is leave-statement.ts.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { advance } from '../workflows/advance.ts'
import { lockWorkflowsOf, withWorkflowsLocked } from '../workflows/lock.ts'
import type { WorkflowId } from '../workflows/new-workflow.ts'
import { leaveStatement, type LeaveOptions } from './leave-statement.ts'
import type { OnCrash } from './on-crash.ts'

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
  /** CRASH: applies instead of the run's own onCrash (on-crash.ts). */
  readonly onCrash?: OnCrash
  /** How long the code ran (real-start.ts). */
  readonly tookMs?: number
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
  /** It is a step of it. */
  readonly workflowId: WorkflowId | null
  /** Under which it was held, or waited. */
  readonly fence: number
  readonly was: TaskState
  readonly status: TaskState
  /** Of an end that is not a success. */
  readonly code: string | null
  /** A concurrency key whose slot was freed and not handed on, or whose run is AVAILABLE again: promote it after the commit. */
  readonly openKey: string | null
}

/**
 * Those that were in one of the states `from` under their fence, in no particular order; the others are not mentioned.
 * Steps of workflows leave in a transaction, which locks their workflows first; runs that are none know nothing of it.
 */
export async function leaveRuns(
  db: Db,
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  options: Omit<LeaveOptions, 'steps'> = {},
): Promise<Left[]> {
  if (leavings.length === 0) return []
  const left = (await db.executeQuery(leaveStatement(from, leavings, options))).rows
  if (left.length === leavings.length) return left
  const steps = await stepsAmong(db, leavings, left)
  return steps.length === 0 ? left : [...left, ...(await leaveSteps(db, from, steps, options))]
}

async function stepsAmong(db: Db, leavings: readonly Leaving[], left: readonly Left[]): Promise<readonly Leaving[]> {
  const gone = new Set(left.map((run) => run.id))
  const missing = leavings.filter(({ runId }) => !gone.has(runId))
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE id = ANY(${missing.map(({ runId }) => runId)}::bigint[]) AND workflow_id IS NOT NULL`.execute(
    db,
  )
  const steps = new Set(rows.map((row) => row.id))
  return missing.filter(({ runId }) => steps.has(runId))
}

/** Who was asked not to wait for a run does not wait for a workflow either: the steps of a locked one have not left then. */
async function leaveSteps(
  db: Db,
  from: readonly TaskState[],
  steps: readonly Leaving[],
  options: Omit<LeaveOptions, 'steps'>,
): Promise<Left[]> {
  const ids = steps.map(({ runId }) => runId)
  const leave = async (trx: Db, some: readonly Leaving[]): Promise<Left[]> => {
    const left = (await trx.executeQuery(leaveStatement(from, some, { ...options, steps: true }))).rows
    await advance(trx, left)
    return left
  }
  if (options.skipLocked === true) {
    return withWorkflowsLocked(db, ids, (trx, free) =>
      leave(
        trx,
        steps.filter(({ runId }) => free.has(runId)),
      ),
    )
  }
  return inTransaction(db, async (trx) => {
    await lockWorkflowsOf(trx, ids)
    return leave(trx, steps)
  })
}
