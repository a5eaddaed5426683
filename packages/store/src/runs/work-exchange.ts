/**
 * One exchange of a replica: it finishes, starts and claims runs and reads what is ready, in one round trip and one
 * transaction.
 *
 * Finish, then start, then claim, then look: each sees what the previous one wrote. The look is sent when the claimer
 * needs it; its rows serve the next exchange, which follows at once if this one brought less than asked (`more`). All
 * of it happens or none; so code is started only after the answer. If a single row fails (a run that a user has locked,
 * a result that the database rejects), each part is sent separately, where one row cannot block another. If the
 * connection broke, the outcome is unknown: the replica settles ended runs again under their leases, and reads from the
 * database what it holds (liveness/held.ts).
 */
import type { CompiledQuery } from 'kysely'
import type { Connection } from '../connection/db.ts'
import type { Lease, RunId } from '../lease.ts'
import { isDeadlock, isLockTimeout, isRefusal } from '../connection/sql-state.ts'
import type { ClaimedRun, ClaimRow } from './claim.ts'
import type { Claimer } from './claimer.ts'
import type { Fits } from './fair-shares.ts'
import { finishStatement, type Finish } from './finish.ts'
import type { LookRow } from './claim-cursors.ts'
import { settleTaskRuns } from './settle.ts'
import { startStatement, stillClaimed } from './start.ts'

export interface WorkExchange {
  /** Successes of runs that are not `gated`. */
  readonly finishes: readonly Finish[]
  /** Runs claimed ahead for which there is a slot now. */
  readonly starts: readonly Lease[]
  /** The most runs to claim and start. */
  readonly claim: number
  /** Whether there is room for a run; default: for all. */
  readonly fits?: Fits
  /** The most runs to claim ahead. */
  readonly prefetch: number
}

export interface WorkExchangeResult {
  /** The runs that are settled now. `settleTaskRuns` must settle the others, and says why they were not. */
  readonly finished: readonly Lease[]
  readonly started: readonly RunId[]
  /**
   * Runs that another session has locked: still claimed, to be started in a later exchange. The lease of any other
   * missing start is lost.
   */
  readonly busy: readonly RunId[]
  readonly claimed: readonly ClaimedRun[]
  readonly prefetched: readonly ClaimedRun[]
  /** Whether more is known to be ready: some candidates gave less than asked, and there are others. */
  readonly more: boolean
}

export async function exchangeWork(
  connection: Connection,
  claimer: Claimer,
  exchange: WorkExchange,
): Promise<WorkExchangeResult> {
  if (claimer.isNew && exchange.claim + exchange.prefetch > 0) await claimer.refresh(connection.db)
  try {
    return await inOneRoundTrip(connection, claimer, exchange)
  } catch (error) {
    if (!concernsSingleRows(error)) throw error
    return inSeparateStatements(connection, claimer, exchange)
  }
}

async function inOneRoundTrip(
  connection: Connection,
  claimer: Claimer,
  exchange: WorkExchange,
): Promise<WorkExchangeResult> {
  const { finishes, starts } = exchange
  const statements = claimer.statementsFor(exchange)
  const queries: CompiledQuery[] = []
  const add = (query: CompiledQuery | undefined) => (query === undefined ? -1 : queries.push(query) - 1)
  const finish = add(finishes.length > 0 ? finishStatement(finishes) : undefined)
  const start = add(starts.length > 0 ? startStatement(starts, { skipLocked: true }) : undefined)
  const claim = add(statements.claim)
  const prefetch = add(statements.prefetch)
  const refresh = add(statements.refresh)
  const answers = queries.length === 0 ? [] : await connection.pipeline(queries)
  const started = ((answers[start] ?? []) as { id: RunId }[]).map(({ id }) => id)
  const claimed = (answers[claim] ?? []) as ClaimRow[]
  const prefetched = (answers[prefetch] ?? []) as ClaimRow[]
  const look = answers[refresh] as LookRow[] | undefined
  statements.record({ claim: claimed, prefetch: prefetched, ...(look && { refresh: look }) })
  return {
    finished: (answers[finish] ?? []) as Lease[],
    started,
    busy: await busyOf(connection.db, starts, started),
    claimed: statements.inFairOrder(claimed),
    prefetched,
    more: !claimer.exhausted,
  }
}

async function inSeparateStatements(
  { db }: Connection,
  claimer: Claimer,
  exchange: WorkExchange,
): Promise<WorkExchangeResult> {
  const settlements = exchange.finishes.map(({ result, ...settlement }) => ({
    ...settlement,
    outcome: { status: 'SUCCEEDED', result } as const,
  }))
  const settled = await settleTaskRuns(db, settlements, { skipBusy: true })
  const finished = exchange.finishes.filter((_, index) => settled[index] === 'settled').map(({ lease }) => lease)
  const starting = startStatement(exchange.starts, { skipLocked: true })
  const started = exchange.starts.length === 0 ? [] : (await db.executeQuery(starting)).rows.map(({ id }) => id)
  if (claimer.exhausted && exchange.claim + exchange.prefetch > 0) await claimer.refresh(db)
  return {
    finished,
    started,
    busy: await busyOf(db, exchange.starts, started),
    claimed: await claimer.claim(db, exchange.claim, false, exchange.fits),
    prefetched: await claimer.claim(db, exchange.prefetch, true),
    more: !claimer.exhausted,
  }
}

/** The exchange itself is done: if this read fails, these runs are asked for again, which is harmless. */
async function busyOf(
  db: Connection['db'],
  starts: readonly Lease[],
  started: readonly RunId[],
): Promise<readonly RunId[]> {
  if (started.length === starts.length) return []
  const begun = new Set(started)
  const others = starts.filter(({ runId }) => !begun.has(runId))
  return others.length === 0 ? [] : stillClaimed(db, others).catch(() => others.map(({ runId }) => runId))
}

/** Whether the server answered and the session continues: a lock timeout, a deadlock, or data that it rejects. */
function concernsSingleRows(error: unknown): boolean {
  return isLockTimeout(error) || isDeadlock(error) || isRefusal(error)
}
