/**
 * RUNNING → SUCCEEDED | FAILED | CANCELLED | PENDING (again later)
 *
 * What came of an attempt, told by its holder under its lease. A run that was reaped, released or claimed again since
 * matches no row, and its old holder is told so. One that is terminal under the same fence already was settled by us
 * and the answer got lost, or by its own code inside its own transaction: that is a success.
 */
import type { ErrorCode } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { columnsOf, leaseKey, type Lease, type RunId } from '../lease.ts'
import { leaveRuns, type Leaving } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'

export type Outcome =
  /** `result`: JSON text. */
  | { readonly status: 'SUCCEEDED'; readonly result: string }
  | { readonly status: 'CANCELLED'; readonly code: ErrorCode; readonly detail: string }
  | {
      readonly status: 'FAILED'
      readonly code: ErrorCode
      readonly detail: string
      readonly stack?: string
      /** Again, if attempts are left: after so long the first time, doubled every time, up to the cap, with jitter. */
      readonly retry?: { readonly delayMs: number; readonly delayMsMax: number }
    }

export interface Settlement {
  readonly lease: Lease
  readonly outcome: Outcome
  readonly by: { readonly hostname: string; readonly pid: number; readonly thread: number }
}

/** `retried`: it failed and will be tried again. `busy`: somebody else has locked the run, and it was asked not to wait. */
export type Settled = 'settled' | 'retried' | 'lease-lost' | 'busy'

export interface SettleOptions {
  /** A run that somebody else has locked, a user's open transaction for instance, does not hold up the others. */
  readonly skipBusy?: boolean
}

/** One answer per settlement, in the order asked. */
export async function settleTaskRuns(
  db: Db,
  settlements: readonly Settlement[],
  { skipBusy = false }: SettleOptions = {},
): Promise<Settled[]> {
  const left = await leaveRuns(db, ['RUNNING'], settlements.map(leavingOf), { skipLocked: skipBusy })
  await promoteOpenKeys(db, left)
  const states = new Map(left.map((run) => [leaseKey({ runId: run.id, fence: run.fence }), run.status]))
  const missing = settlements.filter(({ lease }) => !states.has(leaseKey(lease))).map(({ lease }) => lease)
  const others = await lookAt(db, missing)
  return settlements.map(({ lease }) => {
    const status = states.get(leaseKey(lease))
    if (status === undefined) return others.get(leaseKey(lease)) ?? 'lease-lost'
    return status === 'PENDING' ? 'retried' : 'settled'
  })
}

/** A run's own code, inside its own transaction: what it wrote there and this end are one. */
export async function finishTaskRun(db: Db, lease: Lease, result: unknown): Promise<'settled' | 'lease-lost'> {
  const leaving: Leaving = { ...lease, goal: 'SUCCEEDED', result: JSON.stringify(result) ?? 'null' }
  const left = await leaveRuns(db, ['RUNNING'], [leaving])
  await promoteOpenKeys(db, left)
  return left.length === 1 ? 'settled' : 'lease-lost'
}

function leavingOf({ lease, outcome, by }: Settlement): Leaving {
  if (outcome.status === 'SUCCEEDED') return { ...lease, by, goal: 'SUCCEEDED', result: outcome.result }
  const { status, code, detail } = outcome
  const result = JSON.stringify({
    code,
    detail,
    ...(status === 'FAILED' && outcome.stack !== undefined && { stack: outcome.stack }),
  })
  const retry = status === 'FAILED' ? outcome.retry : undefined
  return retry === undefined
    ? { ...lease, by, goal: status, result }
    : { ...lease, by, goal: 'RETRY', result, ...retry }
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
