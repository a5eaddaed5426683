/**
 * A replica's turn: successes are written, slots are filled, first with runs that were claimed ahead, and a few more are
 * claimed ahead; one round trip. A success, a freed slot, a wake and the poll all bring it back. It never claims more
 * than can start now, in slots that are free or that the successes it writes are about to free, or wait in the small
 * space ahead.
 */
import { leaseOf, type ClaimedRun, type RunId, type Turn, type TurnAnswer } from '@q/store'
import type { Ahead } from '../ahead.ts'
import type { Holdings } from '../holdings.ts'
import type { Idleness } from '../idleness.ts'
import { after, atOnce, whenWoken, type Next } from '../loop.ts'
import type { Polling } from '../polling.ts'
import type { Slots } from '../slots.ts'
import type { Turns } from '../turns.ts'

export interface ClaimDeps {
  readonly turns: Turns
  readonly slots: Slots
  readonly ahead: Ahead
  readonly holdings: Holdings
  readonly idleness: Idleness
  readonly pollEveryMs: number
  /** For polls while there is room. */
  readonly polling: Polling
  readonly nowMs: () => number
  readonly takeTurn: (turn: Turn) => Promise<TurnAnswer>
  /** How many slots may be filled, if so many more become free: a replica that is not well takes less. */
  readonly slotsToFill: (freedMeanwhile: number) => number
  /** How many may wait here for a slot. */
  readonly aheadMax: () => number
  /** It has not been heard for so long that others may take it for dead. */
  readonly isCutOff: () => boolean
  /** Starts the run and returns; the slot is given back when it has ended. */
  readonly begin: (claimed: ClaimedRun, slot: number) => void
  /** How long a run that was started in the database may wait for its slot: nobody beats for it meanwhile. */
  readonly unplacedMsMax: number
  /** Their code never began. Those that were given back. */
  readonly giveBack: (runs: readonly ClaimedRun[]) => Promise<readonly RunId[]>
}

/** A run that somebody has locked is not asked for again before. */
const asideMs = 1_000

export async function claimTick(deps: ClaimDeps): Promise<Next> {
  const { turns, ahead } = deps
  place(deps)
  await giveBackLate(deps)
  const finishes = turns.takeFinishes()
  const room = Math.max(0, deps.slotsToFill(finishes.all.length) - turns.unplaced.length)
  const starting = ahead.take(room, deps.nowMs())
  const turn: Turn = {
    finishes: finishes.all,
    starts: starting.map(leaseOf),
    claim: room - starting.length,
    ahead: Math.max(0, deps.aheadMax() - ahead.size()),
  }
  // From here to the answer nothing else may fail: what was taken would be forgotten.
  if (isNothing(turn)) return soonest(deps, await nothingToDo(deps, room))
  const answer = await take(deps, turn, starting).catch((error: unknown) => {
    finishes.unknown(error)
    ahead.putBack(starting)
    throw error
  })
  finishes.settled(answer.finished)
  noteStarts(deps, starting, answer)
  turns.unplaced.push(...answer.claimed)
  ahead.add(answer.ahead)
  place(deps)
  return soonest(deps, await next(deps, turn, answer))
}

async function take(
  { holdings, takeTurn, nowMs }: ClaimDeps,
  turn: Turn,
  starting: readonly ClaimedRun[],
): Promise<TurnAnswer> {
  let answer: TurnAnswer | undefined
  await holdings.claiming(nowMs(), async () => {
    answer = await takeTurn(turn)
    return [...answer.claimed, ...answer.ahead, ...startedOf(starting, answer)]
  })
  if (answer === undefined) throw new Error('A turn came to nothing.')
  return answer
}

function startedOf(starting: readonly ClaimedRun[], { started }: TurnAnswer): ClaimedRun[] {
  return starting.filter(({ runId }) => started.includes(runId)).map((run) => ({ ...run, attempt: run.attempt + 1 }))
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

/**
 * A slot is free when its run has been settled, a moment after the answer: whoever frees it wakes this loop. What comes
 * to a replica that is cut off may be somebody else's by now: it is not begun, and reconcile.ts gives it back.
 */
function place({ turns, slots, holdings, isCutOff, begin }: ClaimDeps): void {
  if (!turns.isOpen()) return // leaving: they are given back
  if (isCutOff()) for (const run of turns.unplaced.splice(0)) holdings.ended(run)
  for (let free = slots.free(); free > 0 && turns.unplaced.length > 0; free--) {
    const run = turns.unplaced.shift()
    if (run !== undefined) begin(run, slots.take())
  }
}

/** The slot they were started for did not become free: its run could not be settled. Others may have one. */
async function giveBackLate({ turns, holdings, nowMs, unplacedMsMax, giveBack }: ClaimDeps): Promise<void> {
  const latestMs = nowMs() - unplacedMsMax
  const late = turns.unplaced.filter((run) => (holdings.askedMs(run) ?? latestMs) <= latestMs)
  if (late.length === 0) return
  const given = new Set(await giveBack(late))
  const kept = turns.unplaced.filter(({ runId }) => !given.has(runId))
  turns.unplaced.splice(0, turns.unplaced.length, ...kept)
}

async function nothingToDo({ slots, idleness, nowMs, pollEveryMs }: ClaimDeps, room: number): Promise<Next> {
  if (room === 0) await idleness.full(nowMs())
  return room === 0 && slots.free() > 0 ? after(pollEveryMs) : whenWoken
}

async function next({ idleness, nowMs, polling }: ClaimDeps, turn: Turn, answer: TurnAnswer): Promise<Next> {
  if (answer.claimed.length + answer.ahead.length > 0) polling.found()
  if (turn.claim + turn.starts.length === 0) await idleness.full(nowMs())
  if (answer.started.length < turn.starts.length) return atOnce
  if (turn.claim + turn.ahead === 0) return whenWoken
  const gotAll = answer.claimed.length === turn.claim && answer.ahead.length === turn.ahead
  if (gotAll || answer.more) return atOnce
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
