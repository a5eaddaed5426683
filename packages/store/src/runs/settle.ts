/**
 * RUNNING → SUCCEEDED | FAILED | CANCELLED | PENDING (again later)
 *
 * What came of an attempt, told by its holder under its lease. A run that was reaped, released or claimed again since
 * matches no row, and its old holder is told so. One that is terminal under the same fence already was settled by us
 * and the answer got lost, or by its own code inside its own transaction: that is a success.
 */
import { ExplainedError, type ErrorCode, type TaskState } from '@q/schema'
import { jsonLimits, problemsText, repairJson, type Causes } from '@q/schema/json'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { refusedWrites } from '../events/refused.ts'
import { columnsOf, leaseKey, type Lease, type RunId, type PlainLease } from '../lease.ts'
import { isRefusal } from '../sql-state.ts'
import { finishStatement } from './finish.ts'
import { leaveRuns, type Leaving } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'

export type Outcome =
  /** `result`: JSON text. */
  | { readonly status: 'SUCCEEDED'; readonly result: string }
  | { readonly status: 'CANCELLED'; readonly code: ErrorCode; readonly detail: string }
  | (Causes & {
      readonly status: 'FAILED'
      readonly code: ErrorCode
      readonly detail: string
      readonly stack?: string
      /**
       * Again, if attempts are left: after so long the first time, doubled every time, up to the cap, with jitter.
       * Without a cap after exactly so long, every time: somebody asked for that.
       */
      readonly retry?: { readonly delayMs: number; readonly delayMsMax?: number }
      /** Its thread or process died of it: a crash, which ends by the run's onCrash. */
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
 * `retried`: it failed or crashed and will be started again. `busy`: somebody else has locked the run, and it was asked not to wait.
 * `refused`: the database cannot hold what was said; nothing was written, say it in other words.
 */
export type Settled = 'settled' | 'retried' | 'lease-lost' | 'busy' | 'refused'

export interface SettleOptions {
  /** A run that somebody else has locked, a user's open transaction for instance, does not hold up the others. */
  readonly skipBusy?: boolean
}

/** One answer per settlement, in the order asked. One that is refused does not hold up the others. */
export async function settleTaskRuns(
  db: Db,
  settlements: readonly Settlement[],
  options: SettleOptions = {},
): Promise<Settled[]> {
  try {
    return await settleAtOnce(db, settlements, options)
  } catch (error) {
    // In a caller's transaction nothing can be done after an error.
    if (db.isTransaction || !isRefusal(error)) throw error
    if (settlements.length === 1) return ['refused']
    const answers: Settled[] = []
    for (const settlement of settlements) answers.push(...(await settleTaskRuns(db, [settlement], options)))
    return answers
  }
}

async function settleAtOnce(
  db: Db,
  settlements: readonly Settlement[],
  { skipBusy = false }: SettleOptions,
): Promise<Settled[]> {
  const answers = new Map<string, Settled>()
  if (!skipBusy) for (const lease of await finishPlain(db, settlements)) answers.set(leaseKey(lease), 'settled')
  const rest = settlements.filter(({ lease }) => !answers.has(leaseKey(lease)))
  const left = await leaveRuns(db, ['RUNNING'], rest.map(leavingOf), { skipLocked: skipBusy })
  await promoteOpenKeys(db, left)
  for (const { id, fence, status } of left) {
    answers.set(leaseKey({ runId: id, fence }), mayStart(status) ? 'retried' : 'settled')
  }
  const missing = settlements.filter(({ lease }) => !answers.has(leaseKey(lease))).map(({ lease }) => lease)
  for (const [key, answer] of await lookAt(db, missing)) answers.set(key, answer)
  await refusedWrites(
    db,
    'refused-settle',
    missing.filter((lease) => !answers.has(leaseKey(lease))),
  )
  return settlements.map(({ lease }) => answers.get(leaseKey(lease)) ?? 'lease-lost')
}

function mayStart(status: TaskState): boolean {
  return status === 'PENDING' || status === 'AVAILABLE'
}

/** The short way, for successes; those it passes over go the long one. */
async function finishPlain(db: Db, settlements: readonly Settlement[]): Promise<readonly Lease[]> {
  const finishes = settlements.flatMap(({ outcome, ...settlement }) =>
    outcome.status === 'SUCCEEDED' ? { ...settlement, result: outcome.result } : [],
  )
  return finishes.length === 0 ? [] : (await db.executeQuery(finishStatement(finishes))).rows
}

/**
 * A run's own code, inside its own transaction: what it wrote there and this end are one. Strange characters and numbers
 * are repaired, as in what a function returns; what cannot be stored at all is refused before anything is sent, so the
 * transaction continues. Takes `ctx.lease` as it is.
 */
export async function finishTaskRun(db: Db, shown: PlainLease, result: unknown): Promise<'settled' | 'lease-lost'> {
  const lease = shown as Lease
  const leaving: Leaving = { ...lease, goal: 'SUCCEEDED', result: storable(result) }
  const left = await leaveRuns(db, ['RUNNING'], [leaving])
  await promoteOpenKeys(db, left)
  if (left.length === 1) return 'settled'
  await refusedWrites(db, 'refused-settle', [lease])
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

function leavingOf({ lease, outcome, ...report }: Settlement): Leaving {
  if (outcome.status === 'SUCCEEDED') return { ...lease, ...report, goal: 'SUCCEEDED', result: outcome.result }
  const { status, code, detail } = outcome
  const { retry, crashed, stack, cause, errors } = status === 'FAILED' ? outcome : {}
  const result = JSON.stringify({ code, detail, stack, cause, errors })
  if (crashed) return { ...lease, ...report, goal: 'CRASH', result }
  return retry === undefined
    ? { ...lease, ...report, goal: status, result }
    : { ...lease, ...report, goal: 'RETRY', result, ...retry }
}

/** Of leases that matched no row: settled before, or, if the run is still theirs, locked by somebody. */
async function lookAt(db: Db, leases: readonly Lease[]): Promise<Map<string, 'settled' | 'busy'>> {
  if (leases.length === 0) return new Map()
  const { ids, fences } = columnsOf(leases)
  const { rows } = await sql<{ runId: RunId; fence: number; ended: boolean }>`
    SELECT r.id AS "runId", r.fence, r.finished_at IS NOT NULL AS ended FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
    JOIN q.task_run r ON r.id = g.id AND r.fence = g.fence WHERE r.finished_at IS NOT NULL OR r.status = 'RUNNING'`.execute(
    db,
  )
  return new Map(rows.map((row) => [leaseKey(row), row.ended ? 'settled' : 'busy']))
}
