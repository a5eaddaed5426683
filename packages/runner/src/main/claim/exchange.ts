/**
 * One exchange with the database: it writes successes, claims and starts runs, and prefetches a few more, in one round
 * trip. A success, a free thread, a wake or the poll starts the next one.
 *
 * Without a backlog, an exchange asks only for runs that free threads can begin now, and is sent at once. With a backlog,
 * it also asks for runs to hand to busy threads (start-ahead.ts), and backlog.ts decides when to send it. It starts no run
 * while runs that were started earlier wait for a slot.
 */
import { leaseOf, type ClaimedRun, type RunId, type WorkExchange, type WorkExchangeResult } from '@q/store'
import type { PrefetchBuffer } from './prefetch-buffer.ts'
import type { Backlog } from './backlog.ts'
import type { Dispatch } from '../dispatch/dispatch.ts'
import type { HeldRuns } from '../liveness/held-runs.ts'
import type { IdleMark } from './idle-mark.ts'
import { after, atOnce, whenWoken, type Next } from '../loop.ts'
import type { Polling } from './polling.ts'
import type { ExchangeBuffer } from './exchange-buffer.ts'

export interface ExchangeDeps {
  readonly exchangeBuffer: ExchangeBuffer
  readonly dispatch: Dispatch
  readonly backlog: Backlog
  readonly prefetched: PrefetchBuffer
  readonly heldRuns: HeldRuns
  readonly idleMark: IdleMark
  readonly pollEveryMs: number
  /** The interval of polls while there is room. */
  readonly polling: Polling
  readonly nowMs: () => number
  readonly exchangeWork: (exchange: WorkExchange) => Promise<WorkExchangeResult>
  /** How many free threads may be used. A replica that is not healthy uses fewer. */
  readonly slotsToFill: () => number
  /** Whether runs may be handed to busy threads. */
  readonly mayStartAhead: () => boolean
  /** How many prefetched runs may wait here. */
  readonly prefetchMax: () => number
  /** Whether the replica has sent no accepted heartbeat for so long that others may consider it dead. */
  readonly isCutOff: () => boolean
  /** How long a run that is started in the database may wait for a slot. No heartbeats are sent for it in that time. */
  readonly awaitingSlotMsMax: number
  /** Releases runs whose code has not begun; returns the released ones. */
  readonly releaseUnstarted: (runs: readonly ClaimedRun[]) => Promise<readonly RunId[]>
  /** An exchange is sent only with at least this many runs: 1, and more for the second exchange. */
  readonly runsMin: number
}

/** How long a prefetched run waits after another transaction had it locked. */
const deferMs = 1_000
/** The most runs that one exchange claims. */
const claimMax = 500

export async function exchangeTick(deps: ExchangeDeps): Promise<Next> {
  const { exchangeBuffer, prefetched, dispatch, backlog } = deps
  const startsAhead = backlog.allowsStartAhead() && deps.mayStartAhead()
  dispatch.collect(!startsAhead)
  assignSlots(deps)
  await releaseLate(deps)
  const waitMs = startsAhead ? backlog.exchangeInMs(deps.nowMs(), dispatch.leftMs(), exchangeBuffer.size()) : 0
  if (waitMs > 0) return soonest(deps, after(waitMs))
  if (exchangeBuffer.size() < deps.runsMin - 1) return soonest(deps, whenWoken)
  const finishes = exchangeBuffer.takeFinishes()
  const free = exchangeBuffer.awaitingSlot.length > 0 ? 0 : deps.slotsToFill()
  const starting = prefetched.take(free, deps.nowMs())
  const room = dispatch.room(free - starting.length, startsAhead && exchangeBuffer.awaitingSlot.length === 0)
  const exchange: WorkExchange = {
    finishes: finishes.all,
    starts: starting.map(leaseOf),
    claim: room.isEmpty() ? 0 : claimMax,
    fits: (task) => room.take(task) !== undefined,
    prefetch: Math.max(0, deps.prefetchMax() - prefetched.size()),
  }
  try {
    // Nothing else may throw before the response: the runs and successes taken above would be lost.
    if (isNothing(exchange)) return soonest(deps, await nothingToDo(deps, free))
    const answer = await send(deps, exchange, starting).catch((error: unknown) => {
      finishes.unknown(error)
      prefetched.putBack(starting)
      throw error
    })
    finishes.settled(answer.finished)
    noteStarts(deps, starting, answer)
    exchangeBuffer.awaitingSlot.push(...answer.claimed)
    prefetched.add(answer.prefetched)
    room.release()
    assignSlots(deps)
    // Their code begins while the server looks for more.
    const more = await answer.more
    backlog.record(
      { more, claimed: answer.claimed.length, exclusive: answer.claimed.some(dispatch.needsSlot) },
      deps.nowMs(),
    )
    if (!backlog.allowsStartAhead() || !deps.mayStartAhead()) {
      dispatch.collect(true)
      assignSlots(deps)
    }
    const hasAsked = exchange.prefetch > 0 || room.added.some(({ runs }) => runs > 0)
    return soonest(deps, await next(deps, exchange, { ...answer, more }, hasAsked))
  } finally {
    room.release()
  }
}

async function send(
  { heldRuns, backlog, exchangeWork, nowMs }: ExchangeDeps,
  exchange: WorkExchange,
  starting: readonly ClaimedRun[],
): Promise<WorkExchangeResult> {
  let answer: WorkExchangeResult | undefined
  const sentMs = nowMs()
  backlog.sent(sentMs)
  await heldRuns.claiming(sentMs, async () => {
    answer = await exchangeWork(exchange)
    return [...answer.claimed, ...answer.prefetched, ...startedOf(starting, answer)]
  })
  if (answer === undefined) throw new Error('The exchange returned no result.')
  return answer
}

function startedOf(starting: readonly ClaimedRun[], { started }: WorkExchangeResult): ClaimedRun[] {
  if (started.length === 0) return []
  const ids = new Set(started)
  return starting.filter(({ runId }) => ids.has(runId)).map((run) => ({ ...run, attempt: run.attempt + 1 }))
}

function noteStarts(
  { exchangeBuffer, prefetched, heldRuns, nowMs }: ExchangeDeps,
  starting: readonly ClaimedRun[],
  answer: WorkExchangeResult,
): void {
  exchangeBuffer.awaitingSlot.push(...startedOf(starting, answer))
  const rest = starting.filter(({ runId }) => !answer.started.includes(runId))
  const isBusy = ({ runId }: ClaimedRun) => answer.busy.includes(runId)
  // Locked by another transaction and still held: they start later, and other runs use the slots.
  prefetched.defer(rest.filter(isBusy), nowMs() + deferMs)
  // Lost, expired, or started by a statement whose response was lost: reconcile.ts finds them.
  for (const run of rest.filter((one) => !isBusy(one))) heldRuns.ended(run)
}

/** Hands waiting runs to threads. If the replica is cut off, others may have started them: they do not begin, and reconcile.ts releases them. */
function assignSlots({ exchangeBuffer, dispatch, heldRuns, isCutOff }: ExchangeDeps): void {
  if (!exchangeBuffer.isOpen()) return // the drain releases them
  if (isCutOff()) for (const run of exchangeBuffer.awaitingSlot.splice(0)) heldRuns.ended(run)
  dispatch.assignSlots(exchangeBuffer.awaitingSlot)
}

/** Releases runs that have waited too long for a slot, so that another replica can start them. */
async function releaseLate({
  exchangeBuffer,
  heldRuns,
  nowMs,
  awaitingSlotMsMax,
  releaseUnstarted,
}: ExchangeDeps): Promise<void> {
  if (exchangeBuffer.awaitingSlot.length === 0) return
  const latestMs = nowMs() - awaitingSlotMsMax
  const late = exchangeBuffer.awaitingSlot.filter((run) => (heldRuns.claimSentMs(run) ?? latestMs) <= latestMs)
  if (late.length === 0) return
  const released = new Set(await releaseUnstarted(late))
  const kept = exchangeBuffer.awaitingSlot.filter(({ runId }) => !released.has(runId))
  exchangeBuffer.awaitingSlot.splice(0, exchangeBuffer.awaitingSlot.length, ...kept)
}

async function nothingToDo(
  { dispatch, idleMark, nowMs, pollEveryMs, backlog }: ExchangeDeps,
  free: number,
): Promise<Next> {
  if (free === 0) await idleMark.full(nowMs())
  if (backlog.isSeen() && dispatch.slots.busy() > 0) return after(backlog.lingerMs)
  return free === 0 && dispatch.slots.free() > 0 ? after(pollEveryMs) : whenWoken
}

/**
 * `hasAsked`: whether the exchange had room for a run. If not, the next one would be empty, and repeating it at once would
 * block the event loop while threads do not signal their ends. So the loop waits for a short time.
 */
async function next(
  { idleMark, nowMs, polling, dispatch, backlog }: ExchangeDeps,
  exchange: WorkExchange,
  answer: Omit<WorkExchangeResult, 'more'> & { readonly more: boolean },
  hasAsked: boolean,
): Promise<Next> {
  if (answer.claimed.length + answer.prefetched.length > 0) polling.found()
  if (dispatch.slots.free() === 0) await idleMark.full(nowMs())
  if (answer.started.length < exchange.starts.length) return atOnce
  if (answer.more) return hasAsked || answer.lookedOnly ? atOnce : after(backlog.lingerMs)
  if (exchange.claim + exchange.prefetch === 0) return whenWoken
  return (await idleMark.roomLeft()) ? atOnce : after(polling.nextMs())
}

/** Limits the wait by the runs that wait here: for a slot, or until they are no longer deferred. */
function soonest(
  { exchangeBuffer, prefetched, nowMs, pollEveryMs, awaitingSlotMsMax }: ExchangeDeps,
  { afterMs }: Next,
): Next {
  const awaitingSlotMs =
    exchangeBuffer.awaitingSlot.length > 0 ? Math.min(pollEveryMs, awaitingSlotMsMax) : Number.POSITIVE_INFINITY
  return after(Math.min(afterMs, awaitingSlotMs, prefetched.deferredForMs(nowMs())))
}

function isNothing({ finishes, starts, claim, prefetch }: WorkExchange): boolean {
  return finishes.length + starts.length + claim + prefetch === 0
}
