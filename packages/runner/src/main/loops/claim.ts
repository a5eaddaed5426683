/**
 * A replica's exchange with the database: successes are written, runs are claimed and started, and a few more are claimed
 * ahead; one round trip. A success, a free thread, a wake and the poll all bring it back.
 *
 * Without a backlog it asks for what free threads can begin now, and everything goes at once. With a backlog it starts
 * runs ahead (start-ahead.ts) and waits until the next exchange is worth its price (backlog.ts). It never starts more runs
 * than that, and none while runs that were started wait for a slot.
 */
import { leaseOf, type ClaimedRun, type RunId, type Turn, type TurnAnswer } from '@q/store'
import type { Ahead } from '../ahead.ts'
import type { Backlog } from '../backlog.ts'
import type { Dispatch } from '../dispatch.ts'
import type { Holdings } from '../holdings.ts'
import type { Idleness } from '../idleness.ts'
import { after, atOnce, whenWoken, type Next } from '../loop.ts'
import type { Polling } from '../polling.ts'
import type { Turns } from '../turns.ts'

export interface ClaimDeps {
  readonly turns: Turns
  readonly dispatch: Dispatch
  readonly backlog: Backlog
  readonly ahead: Ahead
  readonly holdings: Holdings
  readonly idleness: Idleness
  readonly pollEveryMs: number
  /** For polls while there is room. */
  readonly polling: Polling
  readonly nowMs: () => number
  readonly takeTurn: (turn: Turn) => Promise<TurnAnswer>
  /** How many threads without a load may be used: a replica that is not well takes less. */
  readonly slotsToFill: () => number
  /** Whether runs may be handed to busy threads. */
  readonly mayStartAhead: () => boolean
  /** How many may wait here as claims. */
  readonly aheadMax: () => number
  /** It has not been heard for so long that others may take it for dead. */
  readonly isCutOff: () => boolean
  /** How long a run that was started in the database may wait for its slot: nobody beats for it meanwhile. */
  readonly unplacedMsMax: number
  /** Their code never began. Those that were given back. */
  readonly giveBack: (runs: readonly ClaimedRun[]) => Promise<readonly RunId[]>
  /** The least that an exchange is to carry: more than 1 for a second one beside the first. */
  readonly runsMin: number
}

/** A run that somebody has locked is not asked for again before. */
const asideMs = 1_000
/** At most so many are claimed at once. */
const claimMax = 500

export async function claimTick(deps: ClaimDeps): Promise<Next> {
  const { turns, ahead, dispatch, backlog } = deps
  const startsAhead = backlog.allowsStartAhead() && deps.mayStartAhead()
  dispatch.collect(!startsAhead)
  place(deps)
  await giveBackLate(deps)
  const waitMs = startsAhead ? backlog.exchangeInMs(deps.nowMs(), dispatch.leftMs(), turns.size()) : 0
  if (waitMs > 0) return soonest(deps, after(waitMs))
  if (turns.size() < deps.runsMin - 1) return soonest(deps, whenWoken)
  const finishes = turns.takeFinishes()
  const free = turns.unplaced.length > 0 ? 0 : deps.slotsToFill()
  const starting = ahead.take(free, deps.nowMs())
  const room = dispatch.room(free - starting.length, startsAhead && turns.unplaced.length === 0)
  const turn: Turn = {
    finishes: finishes.all,
    starts: starting.map(leaseOf),
    claim: room.isEmpty() ? 0 : claimMax,
    fits: (task) => room.take(task) !== undefined,
    ahead: Math.max(0, deps.aheadMax() - ahead.size()),
  }
  try {
    // From here to the answer nothing else may fail: what was taken would be forgotten.
    if (isNothing(turn)) return soonest(deps, await nothingToDo(deps, free))
    const answer = await take(deps, turn, starting).catch((error: unknown) => {
      finishes.unknown(error)
      ahead.putBack(starting)
      throw error
    })
    finishes.settled(answer.finished)
    noteStarts(deps, starting, answer)
    turns.unplaced.push(...answer.claimed)
    ahead.add(answer.ahead)
    backlog.learn(answer, deps.nowMs(), answer.claimed.some(dispatch.needsSlot))
    room.release()
    if (!backlog.allowsStartAhead() || !deps.mayStartAhead()) dispatch.collect(true)
    place(deps)
    const hasAsked = turn.ahead > 0 || room.added.some(({ runs }) => runs > 0)
    return soonest(deps, await next(deps, turn, answer, hasAsked))
  } finally {
    room.release()
  }
}

async function take(
  { holdings, backlog, takeTurn, nowMs }: ClaimDeps,
  turn: Turn,
  starting: readonly ClaimedRun[],
): Promise<TurnAnswer> {
  let answer: TurnAnswer | undefined
  const sentMs = nowMs()
  backlog.sent(sentMs)
  await holdings.claiming(sentMs, async () => {
    answer = await takeTurn(turn)
    return [...answer.claimed, ...answer.ahead, ...startedOf(starting, answer)]
  })
  if (answer === undefined) throw new Error('A turn came to nothing.')
  return answer
}

function startedOf(starting: readonly ClaimedRun[], { started }: TurnAnswer): ClaimedRun[] {
  if (started.length === 0) return []
  const ids = new Set(started)
  return starting.filter(({ runId }) => ids.has(runId)).map((run) => ({ ...run, attempt: run.attempt + 1 }))
}

function noteStarts(
  { turns, ahead, holdings, nowMs }: ClaimDeps,
  starting: readonly ClaimedRun[],
  answer: TurnAnswer,
): void {
  turns.unplaced.push(...startedOf(starting, answer))
  const rest = starting.filter(({ runId }) => !answer.started.includes(runId))
  const isBusy = ({ runId }: ClaimedRun) => answer.busy.includes(runId)
  // Locked by somebody, and still ours: they wait for another turn, and others take the slots.
  ahead.putAside(rest.filter(isBusy), nowMs() + asideMs)
  // Lost, expired, or started by a statement whose answer got lost: reconcile.ts finds it.
  for (const run of rest.filter((one) => !isBusy(one))) holdings.ended(run)
}

/** What comes to a replica that is cut off may be another replica's by now: it is not begun, and reconcile.ts releases it. */
function place({ turns, dispatch, holdings, isCutOff }: ClaimDeps): void {
  if (!turns.isOpen()) return // leaving: they are released
  if (isCutOff()) for (const run of turns.unplaced.splice(0)) holdings.ended(run)
  dispatch.place(turns.unplaced)
}

/** No thread became free for them: others may have one. */
async function giveBackLate({ turns, holdings, nowMs, unplacedMsMax, giveBack }: ClaimDeps): Promise<void> {
  if (turns.unplaced.length === 0) return
  const latestMs = nowMs() - unplacedMsMax
  const late = turns.unplaced.filter((run) => (holdings.askedMs(run) ?? latestMs) <= latestMs)
  if (late.length === 0) return
  const given = new Set(await giveBack(late))
  const kept = turns.unplaced.filter(({ runId }) => !given.has(runId))
  turns.unplaced.splice(0, turns.unplaced.length, ...kept)
}

async function nothingToDo(
  { dispatch, idleness, nowMs, pollEveryMs, backlog }: ClaimDeps,
  free: number,
): Promise<Next> {
  if (free === 0) await idleness.full(nowMs())
  if (backlog.isSeen() && dispatch.slots.busy() > 0) return after(backlog.lingerMs)
  return free === 0 && dispatch.slots.free() > 0 ? after(pollEveryMs) : whenWoken
}

/**
 * `hasAsked`: whether there was room for the run that is next in turn. If not, asking again at once would send nothing and
 * keep the event loop from turning, and threads may not signal their ends now: the loop returns after a short time.
 */
async function next(
  { idleness, nowMs, polling, dispatch, backlog }: ClaimDeps,
  turn: Turn,
  answer: TurnAnswer,
  hasAsked: boolean,
): Promise<Next> {
  if (answer.claimed.length + answer.ahead.length > 0) polling.found()
  if (dispatch.slots.free() === 0) await idleness.full(nowMs())
  if (answer.started.length < turn.starts.length) return atOnce
  if (answer.more) return hasAsked ? atOnce : after(backlog.lingerMs)
  if (turn.claim + turn.ahead === 0) return whenWoken
  return (await idleness.roomLeft()) ? atOnce : after(polling.nextMs())
}

/** Also when nobody wakes it, for those that wait here: for a slot, or for somebody to unlock them. */
function soonest({ turns, ahead, nowMs, pollEveryMs, unplacedMsMax }: ClaimDeps, { afterMs }: Next): Next {
  const unplacedMs = turns.unplaced.length > 0 ? Math.min(pollEveryMs, unplacedMsMax) : Number.POSITIVE_INFINITY
  return after(Math.min(afterMs, unplacedMs, ahead.asideForMs(nowMs())))
}

function isNothing({ finishes, starts, claim, ahead }: Turn): boolean {
  return finishes.length + starts.length + claim + ahead === 0
}
