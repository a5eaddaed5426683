/**
 * One turn of a replica: what succeeded, what starts, what is next and what is ready after it, in one round trip and
 * one transaction.
 *
 * Finish, then start, then claim, then look: each sees what the one before wrote. The look goes along when the claimer
 * needs it; what it shows is for the next turn, which comes at once if this one brought less than asked (`more`). Either all of it happened or none; so code is
 * started only after the answer. If anything is in the way (a run that a user has locked, a result that the database
 * refuses) each part goes its own way, where one row cannot hold up another. If the connection broke, nobody knows: what
 * ended is told again under its lease, and what the replica holds is asked of the database (liveness/held.ts).
 */
import type { CompiledQuery } from 'kysely'
import type { Connection } from '../db.ts'
import type { Lease, RunId } from '../lease.ts'
import { isDeadlock, isLockTimeout, isRefusal } from '../sql-state.ts'
import type { ClaimedRun, ClaimRow } from './claim.ts'
import type { Claimer } from './claimer.ts'
import type { Fits, ReadyHead } from './fair-shares.ts'
import { finishStatement, type Finish } from './finish.ts'
import { settleTaskRuns } from './settle.ts'
import { startStatement, stillClaimed } from './start.ts'

export interface Turn {
  /** Successes of runs that are not `gated`. */
  readonly finishes: readonly Finish[]
  /** Claimed ahead, and now there is a slot. */
  readonly starts: readonly Lease[]
  /** How many to claim and start, at most. */
  readonly claim: number
  /** Which of them there is room for; default: all. */
  readonly fits?: Fits
  /** How many to claim ahead. */
  readonly ahead: number
}

export interface TurnAnswer {
  /** Those that are settled now. The others go the long way: `settleTaskRuns` says what is the matter with them. */
  readonly finished: readonly Lease[]
  readonly started: readonly RunId[]
  /** Somebody has them locked: still claimed, to be started with a later turn. Of the other starts the lease is lost. */
  readonly busy: readonly RunId[]
  readonly claimed: readonly ClaimedRun[]
  readonly ahead: readonly ClaimedRun[]
  /** More is known to be ready: what was asked gave less than asked for, and there are others. */
  readonly more: boolean
}

export async function takeTurn(connection: Connection, claimer: Claimer, turn: Turn): Promise<TurnAnswer> {
  if (claimer.isNew && turn.claim + turn.ahead > 0) await claimer.look(connection.db)
  try {
    return await inOneRoundTrip(connection, claimer, turn)
  } catch (error) {
    if (!isInTheWay(error)) throw error
    return apart(connection, claimer, turn)
  }
}

async function inOneRoundTrip(connection: Connection, claimer: Claimer, turn: Turn): Promise<TurnAnswer> {
  const { finishes, starts } = turn
  const ask = claimer.ask(turn)
  const queries: CompiledQuery[] = []
  const place = (query: CompiledQuery | undefined) => (query === undefined ? -1 : queries.push(query) - 1)
  const finish = place(finishes.length > 0 ? finishStatement(finishes) : undefined)
  const start = place(starts.length > 0 ? startStatement(starts, { skipLocked: true }) : undefined)
  const claim = place(ask.claim)
  const ahead = place(ask.ahead)
  const look = place(ask.look)
  const answers = queries.length === 0 ? [] : await connection.pipeline(queries)
  const started = ((answers[start] ?? []) as { id: RunId }[]).map(({ id }) => id)
  const claimed = (answers[claim] ?? []) as ClaimRow[]
  const claimedAhead = (answers[ahead] ?? []) as ClaimRow[]
  const seen = answers[look] as ReadyHead[] | undefined
  ask.learn({ claim: claimed, ahead: claimedAhead, ...(seen && { look: seen }) })
  return {
    finished: (answers[finish] ?? []) as Lease[],
    started,
    busy: await busyOf(connection.db, starts, started),
    claimed: ask.inTurn(claimed),
    ahead: claimedAhead,
    more: !claimer.exhausted,
  }
}

async function apart({ db }: Connection, claimer: Claimer, turn: Turn): Promise<TurnAnswer> {
  const settlements = turn.finishes.map(({ result, ...settlement }) => ({
    ...settlement,
    outcome: { status: 'SUCCEEDED', result } as const,
  }))
  const settled = await settleTaskRuns(db, settlements, { skipBusy: true })
  const finished = turn.finishes.filter((_, index) => settled[index] === 'settled').map(({ lease }) => lease)
  const starting = startStatement(turn.starts, { skipLocked: true })
  const started = turn.starts.length === 0 ? [] : (await db.executeQuery(starting)).rows.map(({ id }) => id)
  if (claimer.exhausted && turn.claim + turn.ahead > 0) await claimer.look(db)
  return {
    finished,
    started,
    busy: await busyOf(db, turn.starts, started),
    claimed: await claimer.claim(db, turn.claim, false, turn.fits),
    ahead: await claimer.claim(db, turn.ahead, true),
    more: !claimer.exhausted,
  }
}

/** The turn itself is done: if nobody can say, they are asked for again, which does no harm. */
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

/** The server answered, and goes on serving us: a lock that was not to be had, a deadlock, or data it refuses. */
function isInTheWay(error: unknown): boolean {
  return isLockTimeout(error) || isDeadlock(error) || isRefusal(error)
}
