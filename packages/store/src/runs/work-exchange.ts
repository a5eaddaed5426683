/**
 * One exchange of a replica: it finishes, starts and claims runs in one transaction, then reads what is ready, all in one
 * round trip.
 *
 * Finish, then start, then claim: each sees what the previous one wrote. All of it happens or none; so code is started
 * only after the answer. The look follows in a transaction of its own, when the claimer needs it. The server answers the
 * first transaction before it begins to look, so claimed code begins in the meantime; the rows of the look serve the next
 * exchange (`more`).
 *
 * If a single row fails (a run that a user has locked, a result that the database rejects), each part is sent separately,
 * where one row cannot block another. If the connection broke, the outcome is unknown: the replica settles ended runs
 * again under their leases, and reads from the database what it holds (liveness/held.ts).
 */
import type { CompiledQuery } from 'kysely'
import type { Connection } from '../connection/db.ts'
import type { Lease, RunId } from '../lease.ts'
import { isDeadlock, isLockTimeout, isRefusal } from '../connection/sql-state.ts'
import type { ClaimedRun, ClaimRow } from './claim.ts'
import type { Claimer, ClaimStatements } from './claimer.ts'
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
  /** Whether no candidate was known: the exchange asked none for runs, and the next one does. */
  readonly lookedOnly: boolean
  /** Resolves, when the look has been answered, to whether more is known to be ready. Rejects if the look failed. */
  readonly more: Promise<boolean>
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
  const { rows, after } = await connection.pipeline(queries, statements.look)
  const started = ((rows[start] ?? []) as { id: RunId }[]).map(({ id }) => id)
  const claimed = (rows[claim] ?? []) as ClaimRow[]
  const prefetched = (rows[prefetch] ?? []) as ClaimRow[]
  statements.claimed({ claim: claimed, prefetch: prefetched })
  const more = looked(claimer, statements, after)
  // The caller handles the rejection after it has handed out the claimed runs.
  more.catch(() => {})
  return {
    finished: (rows[finish] ?? []) as Lease[],
    started,
    busy: await busyOf(connection.db, starts, started),
    claimed: statements.inFairOrder(claimed),
    prefetched,
    lookedOnly: statements.looksOnly,
    more,
  }
}

async function looked(
  claimer: Claimer,
  statements: ClaimStatements,
  rows: Promise<unknown[]> | undefined,
): Promise<boolean> {
  if (rows !== undefined) statements.looked((await rows) as LookRow[])
  return !claimer.exhausted
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
    lookedOnly: false,
    more: Promise.resolve(!claimer.exhausted),
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
