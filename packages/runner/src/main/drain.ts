/**
 * Leaving: stop claiming, give back what has not begun, let runs finish until the deadline, stop those that are left,
 * and only then stop beating.
 *
 * Every step has a limit, so a database that is gone or frozen does not keep the process from leaving. A run whose code
 * could not be stopped, or whose outcome could not be written, is not given up: the replica then leaves without saying
 * goodbye and keeps its session, which ends with the process; others recover the run after that.
 */
import type { Observe } from './events.ts'
import { pause } from './loop.ts'
import type { PulseBoard } from './pulse-board.ts'
import type { Slots } from './slots.ts'

export interface DrainDeps {
  readonly slots: Slots
  readonly pulseBoard: PulseBoard
  readonly observe: Observe
  readonly nowMs: () => number
  /** Unless the wish comes with a deadline of its own. */
  readonly drainMs: number
  /** How long code that is told to stop may take. */
  readonly stopGraceMs: number
  /** Tells others that this replica is leaving. */
  readonly announce: () => Promise<void>
  /** What brings new work: nothing begins from then on. */
  readonly stopIntake: () => Promise<unknown>
  /** What is done for others. */
  readonly stopWatching: () => Promise<unknown>
  readonly giveBackUnbegun: () => Promise<unknown>
  /** What keeps runs and the replica alive in the eyes of others. */
  readonly stopBeats: () => Promise<unknown>
  readonly retire: () => Promise<void>
  readonly closeSession: () => void
  readonly closeAll: () => Promise<void>
}

export interface Drain {
  /** As often as one likes; the soonest deadline counts. */
  begin(deadlineInMs?: number): Promise<void>
  /** The deadline is now. */
  cutShort(): void
  readonly left: Promise<void>
}

const stepMsMax = 3_000
/** For code that was told to stop, and for outcomes to be written; then the process leaves without them. */
const lastMsMin = 10_000
const writeMsMax = 5_000

export function createDrain(deps: DrainDeps): Drain {
  const { promise: left, resolve } = Promise.withResolvers<void>()
  let begun = false
  let deadlineMs = Number.POSITIVE_INFINITY
  let sooner = new AbortController()

  async function drain(): Promise<void> {
    const begunMs = deps.nowMs()
    // Each by itself: that one has failed does not mean that the others are done.
    await Promise.all([deps.announce(), deps.stopIntake(), deps.stopWatching()].map(bounded))
    deps.observe({ type: 'draining', running: deps.slots.busy(), drainMs: Math.max(0, deadlineMs - deps.nowMs()) })
    await bounded(deps.giveBackUnbegun())
    await untilDeadline()
    await stopRemaining()
    // Again: a last turn may have been slow, or the database away.
    await bounded(deps.giveBackUnbegun())
    await bounded(deps.stopBeats())
    const leftBehind = deps.slots.busy()
    if (leftBehind === 0) {
      await bounded(deps.retire())
      deps.closeSession()
    }
    await bounded(deps.closeAll())
    const tookMs = Math.round(deps.nowMs() - begunMs)
    deps.observe(
      leftBehind === 0 ? { type: 'drained', tookMs } : { type: 'left-runs-behind', running: leftBehind, tookMs },
    )
  }

  async function untilDeadline(): Promise<void> {
    for (let waitMs = 1; deps.slots.busy() > 0 && waitMs > 0;) {
      waitMs = deadlineMs - deps.nowMs()
      await Promise.race([deps.slots.allFree(), pause(waitMs, sooner.signal)])
    }
  }

  async function stopRemaining(): Promise<void> {
    if (deps.slots.busy() === 0) return
    deps.observe({ type: 'drain-cut-short', running: deps.slots.busy() })
    for (const running of deps.pulseBoard.all()) running.stop('replica draining')
    await Promise.race([deps.slots.allFree(), pause(Math.max(lastMsMin, deps.stopGraceMs + writeMsMax))])
  }

  async function bounded(step: Promise<unknown>): Promise<void> {
    const failed = (error: unknown) => deps.observe({ type: 'drain-step-failed', error })
    await Promise.race([step.catch(failed), pause(stepMsMax)])
  }

  function setDeadline(inMs: number): void {
    const wishMs = deps.nowMs() + inMs
    if (wishMs >= deadlineMs) return
    deadlineMs = wishMs
    sooner.abort()
    sooner = new AbortController()
  }

  return {
    left,
    async begin(deadlineInMs) {
      setDeadline(Math.max(0, deadlineInMs ?? deps.drainMs))
      if (!begun) {
        begun = true
        await drain().finally(resolve)
      }
      await left
    },
    cutShort: () => setDeadline(0),
  }
}
