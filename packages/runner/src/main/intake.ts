/** The loops that bring runs into execution: clocks are obeyed, gates opened, slots filled, deadlines seen. */
import { createClaimer, createFairShares, takeTurn, type ClaimedRun } from '@q/store'
import { unplacedMsMax } from './fence-bound.ts'
import { slotsToFill } from './health.ts'
import { createIdleness } from './idleness.ts'
import type { Loop } from './loop.ts'
import { claimTick } from './loops/claim.ts'
import { createPromoter } from './loops/promote.ts'
import { scheduleTick } from './loops/schedule.ts'
import { sweepTick } from './loops/sweep.ts'
import { createPolling } from './polling.ts'
import { createTurns, type Turns } from './turns.ts'
import type { Desk } from './work.ts'

export interface Intake {
  readonly claim: Loop
  readonly turns: Turns
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
}

export function startIntake(desk: Desk, begin: (run: ClaimedRun, slot: number) => void): Intake {
  const { store, slots, ahead, holdings, replicaId, config, nowMs, vitals } = desk
  const { pollEveryMs, queues, queueWeights, capabilities } = config
  const tasks = desk.tasks.map((task) => task.name)
  const claimer = createClaimer({ replicaId, tasks, queues, queueWeights, capabilities, shares: createFairShares() })
  const idleness = createIdleness(store, replicaId, desk.presence.isHeld)
  const createOwnPolling = () => createPolling(pollEveryMs, desk.presence.isHeld)
  const polling = { claim: createOwnPolling(), promote: createOwnPolling() }
  const turns = createTurns(() => claim.wake())
  let keys = new Set<string>()
  const takeKeys = () => {
    const taken = [...keys]
    keys = new Set()
    return taken
  }
  const toFill = (freedMeanwhile: number) => {
    if (!taking || desk.isCutOff()) return 0
    if (vitals.health() !== 'healthy') vitals.look()
    return slotsToFill(vitals.health(), { total: slots.total, free: slots.free() + freedMeanwhile })
  }
  let taking = true
  /** Raised by every pause: no run of a turn that was sent before the pause may start after it. */
  let pauses = 0
  let turnUnderWay: Promise<unknown> = Promise.resolve()
  let lookedMs = Number.NEGATIVE_INFINITY
  const takeNext: Parameters<typeof claimTick>[0]['takeTurn'] = (turn) => {
    if (nowMs() - lookedMs >= pollEveryMs) {
      claimer.forget()
      lookedMs = nowMs()
    }
    const answer = takeTurn(desk.turn, claimer, turn)
    turnUnderWay = answer.catch(() => {})
    const before = pauses
    return answer.then((brought) => (pauses === before ? brought : { ...brought, started: [], claimed: [], ahead: [] }))
  }
  /** None of these runs will start. Once forgotten, reconcile.ts releases the ones that the drain cannot, because they are locked. */
  const forgetUnbegun = () => {
    for (const run of [...turns.unplaced.splice(0), ...ahead.takeAll()]) holdings.ended(run)
  }

  const claim = desk.loop('claim', () => {
    if (!taking) forgetUnbegun()
    return claimTick({
      turns,
      slots,
      ahead,
      holdings,
      idleness,
      pollEveryMs,
      polling: polling.claim,
      nowMs,
      takeTurn: takeNext,
      slotsToFill: toFill,
      aheadMax: () => (taking && vitals.health() === 'healthy' && !desk.isCutOff() ? ahead.max : 0),
      isCutOff: desk.isCutOff,
      begin,
      unplacedMsMax: unplacedMsMax(config.preset.thresholds),
      giveBack: desk.giveBack,
    })
  })
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
    turns,
    lookAgain,
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
      await turnUnderWay
      forgetUnbegun()
    },
    resume() {
      taking = true
      lookAgain()
    },
    async stop() {
      turns.close()
      await Promise.all([claim, promote, sweep, schedule].map((loop) => loop.stop()))
      forgetUnbegun()
    },
  }
}
