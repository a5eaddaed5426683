/**
 * One turn of a replica: what succeeded, what starts, and what is next, in one round trip and one transaction.
 *
 * Finish, then start, then claim: each sees what the one before wrote. Either all of it happened or none; so code is
 * started only after the answer. If anything is in the way (a run that a user has locked, a result that the database
 * refuses) each part goes its own way, where one row cannot hold up another. If the connection broke, nobody knows: what
 * ended is told again under its lease, and what the replica holds is asked of the database (liveness/held.ts).
 */
import type { CompiledQuery } from 'kysely'
import type { Connection } from '../db.ts'
import type { Lease, RunId } from '../lease.ts'
import { isDeadlock, isLockTimeout, isRefusal } from '../sql-state.ts'
import { claimStatement, type ClaimedRun, type ClaimRow } from './claim.ts'
import type { Claimer } from './claimer.ts'
import { finishStatement, type Finish } from './finish.ts'
import { settleTaskRuns } from './settle.ts'
import { startStatement, startTaskRuns } from './start.ts'

export interface Turn {
  /** Successes of runs that are not `gated`. */
  readonly finishes: readonly Finish[]
  /** Claimed ahead, and now there is a slot. */
  readonly starts: readonly Lease[]
  /** How many to claim and start: the free slots. */
  readonly claim: number
  /** How many to claim ahead. */
  readonly ahead: number
}

export interface TurnAnswer {
  /** Those that are settled now. The others go the long way: `settleTaskRuns` says what is the matter with them. */
  readonly finished: readonly Lease[]
  readonly started: readonly RunId[]
  readonly claimed: readonly ClaimedRun[]
  readonly ahead: readonly ClaimedRun[]
  /** More is known to be ready: what was asked gave less than asked for, and there are others. */
  readonly more: boolean
}

export async function takeTurn(connection: Connection, claimer: Claimer, turn: Turn): Promise<TurnAnswer> {
  if (claimer.exhausted && turn.claim + turn.ahead > 0) await claimer.look(connection.db)
  try {
    return await inOneRoundTrip(connection, claimer, turn)
  } catch (error) {
    if (!isInTheWay(error)) throw error
    return apart(connection, claimer, turn)
  }
}

async function inOneRoundTrip(connection: Connection, claimer: Claimer, turn: Turn): Promise<TurnAnswer> {
  const { finishes, starts } = turn
  const { replicaId } = claimer
  const now = claimer.quotas(turn.claim)
  const later = claimer.quotas(turn.ahead)
  const queries: CompiledQuery[] = []
  const place = (wanted: boolean, query: () => CompiledQuery) => (wanted ? queries.push(query()) - 1 : -1)
  const finish = place(finishes.length > 0, () => finishStatement(finishes))
  const start = place(starts.length > 0, () => startStatement(starts))
  const claim = place(now.length > 0, () => claimStatement({ replicaId, ahead: false, quotas: now }))
  const ahead = place(later.length > 0, () => claimStatement({ replicaId, ahead: true, quotas: later }))
  const answers = queries.length === 0 ? [] : await connection.pipeline(queries)
  return {
    finished: (answers[finish] ?? []) as Lease[],
    started: ((answers[start] ?? []) as { id: RunId }[]).map(({ id }) => id),
    claimed: claimer.learn(now, (answers[claim] ?? []) as ClaimRow[]),
    ahead: claimer.learn(later, (answers[ahead] ?? []) as ClaimRow[]),
    more: !claimer.exhausted,
  }
}

async function apart({ db }: Connection, claimer: Claimer, turn: Turn): Promise<TurnAnswer> {
  const settlements = turn.finishes.map(({ lease, result, by }) => ({
    lease,
    outcome: { status: 'SUCCEEDED', result } as const,
    by,
  }))
  const settled = await settleTaskRuns(db, settlements, { skipBusy: true })
  const finished = turn.finishes.filter((_, index) => settled[index] === 'settled').map(({ lease }) => lease)
  // A run that could not be settled keeps its slot: nothing is claimed for it.
  const room = Math.max(0, turn.claim - (turn.finishes.length - finished.length))
  return {
    finished,
    started: await startedNow(db, turn.starts),
    claimed: await claimer.claim(db, room),
    ahead: await claimer.claim(db, turn.ahead, true),
    more: !claimer.exhausted,
  }
}

/** One that somebody has locked keeps all of them waiting for the next turn, and holds up nothing else. */
async function startedNow(db: Connection['db'], starts: readonly Lease[]): Promise<readonly RunId[]> {
  return startTaskRuns(db, starts).catch((error: unknown) => {
    if (isInTheWay(error)) return []
    throw error
  })
}

/** The server answered, and goes on serving us: a lock that was not to be had, a deadlock, or data it refuses. */
function isInTheWay(error: unknown): boolean {
  return isLockTimeout(error) || isDeadlock(error) || isRefusal(error)
}
