/** The loops that bring runs into execution: clocks are obeyed, gates opened, slots filled, deadlines seen. */
import { createClaimer, createFairShares, takeTurn, type ClaimedRun, type Connection } from '@q/store'
import { createBacklog } from './backlog.ts'
import { unplacedMsMax } from './fence-bound.ts'
import { slotsToFill } from './health.ts'
import { createIdleness } from './idleness.ts'
import type { Loop } from './loop.ts'
import { claimTick, type ClaimDeps } from './loops/claim.ts'
import { createPromoter } from './loops/promote.ts'
import { scheduleTick } from './loops/schedule.ts'
import { sweepTick } from './loops/sweep.ts'
import { createPolling } from './polling.ts'
import type { Desk } from './work.ts'

export interface Intake {
  readonly claim: Pick<Loop, 'wake'>
  /** Something became ready: what was seen before does not count any more. */
  lookAgain(): void
  /** Hints may have been lost: everything looks once. */
  wakeAll(): void
  promoteKey(key: string): void
  /** A run is due in `inMs` milliseconds. */
  dueIn(inMs: number): void
  /** A schedule was made or changed. */
  wakeSchedules(): void
  /** No run starts until resume(). Resolves when no claim is in flight. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<unknown>
  /** Threads that are busy for longer than expected hand their waiting runs to others, or back to the queue. */
  relieve(): void
  /**
   * Runs that were started and have not begun will not begin here, nor those of a claim under way: other replicas may
   * have started them by now. reconcile.ts releases them if they have not.
   */
  forgetStarted(): void
}

/** A second exchange at the same time is worth it from this many successes on. */
const secondMin = 128

export function startIntake(desk: Desk): Intake {
  const { store, slots, ahead, holdings, replicaId, config, nowMs, vitals, turns, dispatch } = desk
  const { pollEveryMs, queues, queueWeights, capabilities } = config
  const tasks = desk.tasks.map((task) => task.name)
  const claimer = createClaimer({ replicaId, tasks, queues, queueWeights, capabilities, shares: createFairShares() })
  const idleness = createIdleness(store, replicaId, desk.presence.isHeld)
  const createOwnPolling = () => createPolling(pollEveryMs, desk.presence.isHeld)
  const polling = { claim: createOwnPolling(), promote: createOwnPolling() }
  let keys = new Set<string>()
  const takeKeys = () => {
    const taken = [...keys]
    keys = new Set()
    return taken
  }
  const toFill = () => {
    if (!taking || desk.isCutOff()) return 0
    if (vitals.health() !== 'healthy') vitals.look()
    return slotsToFill(vitals.health(), { total: slots.total, free: slots.free() })
  }
  const backlog = createBacklog()
  let taking = true
  /** Raised by every pause, and while it is cut off: no run of a turn that was sent before may start after it. */
  let pauses = 0
  const turnsUnderWay = new Set<Promise<unknown>>()
  let lookedMs = Number.NEGATIVE_INFINITY
  const takeNext =
    (connection: Connection): ClaimDeps['takeTurn'] =>
    (turn) => {
      if (nowMs() - lookedMs >= pollEveryMs) {
        claimer.forget()
        lookedMs = nowMs()
      }
      const answer = takeTurn(connection, claimer, turn)
      const done = answer.catch(() => {}).finally(() => turnsUnderWay.delete(done))
      turnsUnderWay.add(done)
      const before = pauses
      return answer.then((brought) =>
        pauses === before ? brought : { ...brought, started: [], claimed: [], ahead: [] },
      )
    }
  /** None of these runs will start. Once forgotten, reconcile.ts releases the ones that the drain cannot, because they are locked. */
  const forgetUnbegun = () => {
    for (const run of [...turns.unplaced.splice(0), ...dispatch.withdrawAll(), ...ahead.takeAll()]) holdings.ended(run)
  }

  const isWell = () => taking && vitals.health() === 'healthy' && !desk.isCutOff()
  const exchange = (name: string, connection: Connection, runsMin: number) =>
    desk.loop(name, () => {
      if (!taking) forgetUnbegun()
      return claimTick({
        turns,
        dispatch,
        backlog,
        ahead,
        holdings,
        idleness,
        pollEveryMs,
        polling: polling.claim,
        nowMs,
        takeTurn: takeNext(connection),
        slotsToFill: toFill,
        mayStartAhead: isWell,
        aheadMax: () => (isWell() ? ahead.max : 0),
        isCutOff: desk.isCutOff,
        unplacedMsMax: unplacedMsMax(config.preset.thresholds),
        giveBack: desk.giveBack,
        runsMin,
      })
    })
  const first = exchange('claim', desk.turn, 1)
  const second = exchange('claim-beside', desk.secondTurn, secondMin)
  const claim = {
    wake() {
      first.wake()
      if (turns.size() >= secondMin && turnsUnderWay.size === 1) second.wake()
    },
  }
  /** Those that another transaction has locked stay here, and may still begin. */
  const releaseRelieved = async (runs: readonly ClaimedRun[]) => {
    const before = pauses
    const gone = new Set(await desk.giveBack(runs).catch(() => []))
    const kept = runs.filter(({ runId }) => !gone.has(runId))
    if (pauses === before) turns.unplaced.push(...kept)
    else for (const run of kept) holdings.ended(run)
  }
  const lookAgain = () => {
    claimer.forget()
    claim.wake()
  }
  const wake = () => promote.wake()
  const promoter = createPromoter({ store, polling: polling.promote, nowMs, takeKeys, onPromoted: lookAgain, wake })
  const promote = desk.loop('promote', promoter.tick)
  const sweep = desk.loop('sweep', () => sweepTick({ store, onPromoted: lookAgain }))
  const schedule = desk.loop('schedule', () => scheduleTick({ ...desk, onEnqueued: lookAgain }))
  return {
    claim,
    lookAgain,
    forgetStarted() {
      pauses++
      for (const run of [...turns.unplaced.splice(0), ...dispatch.withdrawAll()]) holdings.ended(run)
    },
    relieve() {
      const relieved = dispatch.relieve()
      if (relieved.length === 0) return
      dispatch.place(relieved)
      void releaseRelieved(relieved)
    },
    wakeAll() {
      idleness.forget()
      polling.claim.found()
      polling.promote.found()
      lookAgain()
      for (const loop of [promote, sweep, schedule]) loop.wake()
    },
    promoteKey(key) {
      keys.add(key)
      promote.wake()
    },
    dueIn: promoter.dueIn,
    wakeSchedules: () => schedule.wake(),
    async pause() {
      taking = false
      pauses++
      await Promise.all(turnsUnderWay)
      forgetUnbegun()
    },
    resume() {
      taking = true
      lookAgain()
    },
    async stop() {
      turns.close()
      await Promise.all([first, second, promote, sweep, schedule].map((loop) => loop.stop()))
      forgetUnbegun()
    },
  }
}
