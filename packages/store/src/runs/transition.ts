/**
 * Every transition out of a state, whether the holder settles or releases the run, a user cancels it, it expires, or a
 * reaper recovers it. One statement performs all of them, so each does the same things, together or not at all:
 *
 *   the run        its next state, its counts, and a higher fence unless its holder ends it
 *   history        a row for an attempt that ended, unless it succeeded
 *   heartbeats     removed
 *   its slot       of a concurrency key: handed to the next run that waits for the key, never to two
 *   a wake         for callers that wait for its end
 *   a report       for destinations that subscribed to it
 *   its workflow   dependents are released or skipped, policies applied, in the same transaction (workflows/advance.ts)
 *
 * If a cancel was requested, a transition that would make the run startable again ends it as CANCELLED instead.
 *
 * The statement itself is transition-statement.ts.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { advance } from '../workflows/advance.ts'
import { lockWorkflowsOf, withWorkflowsLocked } from '../workflows/lock.ts'
import type { WorkflowId } from '../workflows/new-workflow.ts'
import { transitionStatement, type TransitionOptions } from './transition-statement.ts'
import type { OnCrash } from './on-crash.ts'

export interface Transition {
  readonly runId: RunId
  /** Null only for a decision without a lease: cancel and expire. */
  readonly fence: number | null
  readonly goal: Goal
  /**
   * JSON text: for SUCCEEDED the return value; for any other end, also one that RETRY or CRASH may lead to, code and
   * detail.
   */
  readonly result?: string
  /** PENDING and RETRY: how long from now. */
  readonly delayMs?: number
  /** RETRY: doubled with every attempt, up to this cap, with jitter; without a cap it is exact. */
  readonly delayMsMax?: number
  /** CRASH: applies instead of the run's own onCrash (on-crash.ts). */
  readonly onCrash?: OnCrash
  /** The fingerprint of the error that ended the attempt; without one, code and task form it. */
  readonly fingerprint?: string
  /** How long the code ran (real-start.ts). */
  readonly tookMs?: number
  /** The attempt does not count. */
  readonly refundAttempt?: boolean
  /** Whether another party than the holder decided: the holder's lease is void, even if this is the end. */
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
  /** Retries later if attempts are left, else FAILED. */
  | 'RETRY'
  /** Its holder died: AVAILABLE or FAILED, by its onCrash and its crash count. */
  | 'CRASH'

export interface Transitioned {
  readonly id: RunId
  /** The workflow of which the run is a step. */
  readonly workflowId: WorkflowId | null
  /** The fence under which it was held, or waited. */
  readonly fence: number
  readonly was: TaskState
  readonly status: TaskState
  /** Set for an end that is not a success. */
  readonly code: string | null
  /** A concurrency key whose slot was freed and not handed on, or whose run is AVAILABLE again: promote it after the commit. */
  readonly openKey: string | null
}

/**
 * Returns the runs that were in one of the states `from` under their fence, in no particular order, and leaves out the
 * others. Steps of workflows change in a transaction that locks their workflows first; other runs need none.
 */
export async function applyTransitions(
  db: Db,
  from: readonly TaskState[],
  transitions: readonly Transition[],
  options: Omit<TransitionOptions, 'steps'> = {},
): Promise<Transitioned[]> {
  if (transitions.length === 0) return []
  const changed = (await db.executeQuery(transitionStatement(from, transitions, options))).rows
  if (changed.length === transitions.length) return changed
  const steps = await stepsAmong(db, transitions, changed)
  return steps.length === 0 ? changed : [...changed, ...(await applyToSteps(db, from, steps, options))]
}

async function stepsAmong(
  db: Db,
  transitions: readonly Transition[],
  changed: readonly Transitioned[],
): Promise<readonly Transition[]> {
  const done = new Set(changed.map((run) => run.id))
  const missing = transitions.filter(({ runId }) => !done.has(runId))
  const { rows } = await sql<{ id: RunId }>`
    SELECT id::text AS id FROM q.task_run WHERE id = ANY(${missing.map(({ runId }) => runId)}::bigint[]) AND workflow_id IS NOT NULL`.execute(
    db,
  )
  const steps = new Set(rows.map((row) => row.id))
  return missing.filter(({ runId }) => steps.has(runId))
}

/**
 * A caller that does not wait for a run does not wait for a workflow either: steps of a locked workflow then do not
 * change.
 */
async function applyToSteps(
  db: Db,
  from: readonly TaskState[],
  steps: readonly Transition[],
  options: Omit<TransitionOptions, 'steps'>,
): Promise<Transitioned[]> {
  const ids = steps.map(({ runId }) => runId)
  const apply = async (trx: Db, some: readonly Transition[]): Promise<Transitioned[]> => {
    const changed = (await trx.executeQuery(transitionStatement(from, some, { ...options, steps: true }))).rows
    await advance(trx, changed)
    return changed
  }
  if (options.skipLocked === true) {
    return withWorkflowsLocked(db, ids, (trx, free) =>
      apply(
        trx,
        steps.filter(({ runId }) => free.has(runId)),
      ),
    )
  }
  return inTransaction(db, async (trx) => {
    await lockWorkflowsOf(trx, ids)
    return apply(trx, steps)
  })
}
