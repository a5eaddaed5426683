/**
 * RUNNING → SUCCEEDED | FAILED | CANCELLED | PENDING (retried later)
 *
 * The holder reports the outcome of an attempt under its lease. A run that was reaped, released or claimed again since
 * matches no row, and the answer tells its old holder that the lease is lost. A run that is already terminal under the
 * same fence is a success: either an earlier settle committed and its answer was lost, or the run's own code finished
 * it in its own transaction.
 */
import { ExplainedError, type ErrorCode, type TaskState } from '@q/schema'
import { jsonLimits, problemsText, repairJson, type Causes } from '@q/schema/json'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { auditRefusedWrites } from '../events/audit-refused-writes.ts'
import { columnsOf, leaseKey, type Lease, type RunId, type PlainLease } from '../lease.ts'
import { isRefusal } from '../connection/sql-state.ts'
import { finishStatement } from './finish.ts'
import { applyTransitions, type Transition } from './transition.ts'
import { promoteOpenKeys } from './promote.ts'

export type Outcome =
  /** `result` is JSON text. */
  | { readonly status: 'SUCCEEDED'; readonly result: string }
  | { readonly status: 'CANCELLED'; readonly code: ErrorCode; readonly detail: string }
  | (Causes & {
      readonly status: 'FAILED'
      readonly code: ErrorCode
      readonly detail: string
      readonly stack?: string
      /**
       * The part that errors of the same cause have in common (errors/fingerprint.ts); without one, code and task form
       * it.
       */
      readonly fingerprint?: string
      /**
       * Retries if attempts are left: the delay doubles every time, up to the cap, with jitter. Without a cap the delay
       * is exact every time, because the code asked for it.
       */
      readonly retry?: { readonly delayMs: number; readonly delayMsMax?: number }
      /** Whether its thread or process died: a crash, which ends by the run's onCrash. */
      readonly crashed?: true
    })

export interface Settlement {
  readonly lease: Lease
  readonly outcome: Outcome
  readonly by: { readonly hostname: string; readonly pid: number; readonly thread: number }
  /** How long the code ran: RUNNING is committed before a thread begins the run. */
  readonly tookMs?: number
}

/**
 * `retried`: it failed or crashed and will be started again. `busy`: another session has locked the run, and the caller
 * asked not to wait. `refused`: the database cannot store the outcome; nothing was written, settle it with another one.
 */
export type SettleAnswer = 'settled' | 'retried' | 'lease-lost' | 'busy' | 'refused'

export interface SettleOptions {
  /**
   * Whether to skip a run that another session has locked, for instance a user's open transaction, so that it does not
   * block the others.
   */
  readonly skipBusy?: boolean
}

/** Returns one answer per settlement, in the order given. A rejected settlement does not block the others. */
export async function settleTaskRuns(
  db: Db,
  settlements: readonly Settlement[],
  options: SettleOptions = {},
): Promise<SettleAnswer[]> {
  try {
    return await settleAtOnce(db, settlements, options)
  } catch (error) {
    // In a caller's transaction nothing can be sent after an error.
    if (db.isTransaction || !isRefusal(error)) throw error
    if (settlements.length === 1) return ['refused']
    const answers: SettleAnswer[] = []
    for (const settlement of settlements) answers.push(...(await settleTaskRuns(db, [settlement], options)))
    return answers
  }
}

async function settleAtOnce(
  db: Db,
  settlements: readonly Settlement[],
  { skipBusy = false }: SettleOptions,
): Promise<SettleAnswer[]> {
  const answers = new Map<string, SettleAnswer>()
  if (!skipBusy) for (const lease of await finishUngated(db, settlements)) answers.set(leaseKey(lease), 'settled')
  const rest = settlements.filter(({ lease }) => !answers.has(leaseKey(lease)))
  const changed = await applyTransitions(db, ['RUNNING'], rest.map(transitionOf), { skipLocked: skipBusy })
  await promoteOpenKeys(db, changed)
  for (const { id, fence, status } of changed) {
    answers.set(leaseKey({ runId: id, fence }), mayStart(status) ? 'retried' : 'settled')
  }
  const missing = settlements.filter(({ lease }) => !answers.has(leaseKey(lease))).map(({ lease }) => lease)
  for (const [key, answer] of await settledOrBusy(db, missing)) answers.set(key, answer)
  await auditRefusedWrites(
    db,
    'refused-settle',
    missing.filter((lease) => !answers.has(leaseKey(lease))),
  )
  return settlements.map(({ lease }) => answers.get(leaseKey(lease)) ?? 'lease-lost')
}

function mayStart(status: TaskState): boolean {
  return status === 'PENDING' || status === 'AVAILABLE'
}

/** The short path, for successes; the runs that it skips take the full transition. */
async function finishUngated(db: Db, settlements: readonly Settlement[]): Promise<readonly Lease[]> {
  const finishes = settlements.flatMap(({ outcome, ...settlement }) =>
    outcome.status === 'SUCCEEDED' ? { ...settlement, result: outcome.result } : [],
  )
  return finishes.length === 0 ? [] : (await db.executeQuery(finishStatement(finishes))).rows
}

/**
 * Ends a run from its own code, in a transaction of that code: what the code wrote there and this end commit together.
 * Characters and numbers that jsonb cannot hold are repaired, as in a returned value; a result that cannot be stored at
 * all is rejected before anything is sent, so the transaction can continue. Accepts `ctx.lease` as it is.
 */
export async function finishTaskRun(db: Db, shown: PlainLease, result: unknown): Promise<'settled' | 'lease-lost'> {
  const lease = shown as Lease
  const transition: Transition = { ...lease, goal: 'SUCCEEDED', result: storable(result) }
  const changed = await applyTransitions(db, ['RUNNING'], [transition])
  await promoteOpenKeys(db, changed)
  if (changed.length === 1) return 'settled'
  await auditRefusedWrites(db, 'refused-settle', [lease])
  return 'lease-lost'
}

function storable(result: unknown): string {
  const repaired = repairJson(result)
  if (repaired.kind === 'json') return repaired.text
  const problem =
    repaired.kind === 'too-large'
      ? {
          code: 'RESULT_TOO_LARGE',
          why: `It has at least ${repaired.bytes} bytes as JSON; at most ${jsonLimits.bytesMax} are stored.`,
        }
      : { code: 'INVALID_RESULT', why: `It cannot be written as JSON: ${problemsText([repaired.problem])}.` }
  throw new ExplainedError({
    ...problem,
    what: 'The result cannot be stored; nothing was sent.',
    fix: 'Pass plain JSON data; store what is large elsewhere and pass where it is.',
  })
}

function transitionOf({ lease, outcome, ...report }: Settlement): Transition {
  if (outcome.status === 'SUCCEEDED') return { ...lease, ...report, goal: 'SUCCEEDED', result: outcome.result }
  const { status, code, detail } = outcome
  const { retry, crashed, stack, cause, errors, fingerprint } = status === 'FAILED' ? outcome : {}
  const result = JSON.stringify({ code, detail, stack, cause, errors })
  const leaving = { ...lease, ...report, ...(fingerprint === undefined ? {} : { fingerprint }), result }
  if (crashed) return { ...leaving, goal: 'CRASH' }
  return retry === undefined ? { ...leaving, goal: status } : { ...leaving, goal: 'RETRY', ...retry }
}

/**
 * For leases that matched no row: whether the run was settled before or, if it is still held, another session has
 * locked it.
 */
async function settledOrBusy(db: Db, leases: readonly Lease[]): Promise<Map<string, 'settled' | 'busy'>> {
  if (leases.length === 0) return new Map()
  const { ids, fences } = columnsOf(leases)
  const { rows } = await sql<{ runId: RunId; fence: number; ended: boolean }>`
    SELECT r.id AS "runId", r.fence, r.finished_at IS NOT NULL AS ended FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
    JOIN q.task_run r ON r.id = g.id AND r.fence = g.fence WHERE r.finished_at IS NOT NULL OR r.status = 'RUNNING'`.execute(
    db,
  )
  return new Map(rows.map((row) => [leaseKey(row), row.ended ? 'settled' : 'busy']))
}
