/**
 * Leaving: stop claiming, let runs finish until the deadline, stop those that are left, and only then stop beating.
 *
 * Every step has a limit, so a database that is gone or frozen does not keep the process from leaving. A run whose code
 * could not be stopped, or whose outcome could not be written, is not given up: the replica then leaves without saying
 * goodbye, and others recover the run when its beats have stopped for long enough.
 */
import type { Observe } from './events.ts'
import { pause, type Loop } from './loop.ts'
import type { PulseBoard } from './pulse-board.ts'
import type { Slots } from './slots.ts'

export interface DrainDeps {
  readonly slots: Slots
  readonly pulseBoard: PulseBoard
  readonly observe: Observe
  readonly nowMs: () => number
  readonly drainMs: number
  /** What brings new work. */
  readonly intake: readonly Loop[]
  /** What keeps runs and the replica alive in the eyes of others. */
  readonly beats: readonly Loop[]
  /** Tells others that this replica is leaving. */
  readonly announce: () => Promise<void>
  readonly stopListening: () => void
  readonly retire: () => Promise<void>
  readonly closeAll: () => Promise<void>
}

export interface Drain {
  /** As often as one likes. */
  begin(): Promise<void>
  /** The deadline is now. */
  cutShort(): void
  readonly left: Promise<void>
}

const stepMsMax = 3_000
/** For code that was told to stop, and for outcomes to be written; then the process leaves without them. */
const lastMsMax = 10_000

export function createDrain(deps: DrainDeps): Drain {
  const impatient = new AbortController()
  const { promise: left, resolve } = Promise.withResolvers<void>()
  let begun = false

  async function drain(): Promise<void> {
    const begunMs = deps.nowMs()
    await bounded(Promise.all([deps.announce(), ...deps.intake.map((loop) => loop.stop())]))
    deps.observe({ type: 'draining', running: deps.slots.busy(), drainMs: deps.drainMs })
    deps.stopListening()
    await Promise.race([deps.slots.allFree(), pause(deps.drainMs, impatient.signal)])
    await stopRemaining()
    await bounded(Promise.all(deps.beats.map((loop) => loop.stop())))
    const leftBehind = deps.slots.busy()
    if (leftBehind === 0) await bounded(deps.retire())
    await bounded(deps.closeAll())
    const tookMs = Math.round(deps.nowMs() - begunMs)
    deps.observe(
      leftBehind === 0 ? { type: 'drained', tookMs } : { type: 'left-runs-behind', running: leftBehind, tookMs },
    )
  }

  async function stopRemaining(): Promise<void> {
    if (deps.slots.busy() === 0) return
    deps.observe({ type: 'drain-cut-short', running: deps.slots.busy() })
    for (const running of deps.pulseBoard.all()) running.stop('replica draining')
    await Promise.race([deps.slots.allFree(), pause(lastMsMax)])
  }

  async function bounded(step: Promise<unknown>): Promise<void> {
    const failed = (error: unknown) => deps.observe({ type: 'drain-step-failed', error })
    await Promise.race([step.catch(failed), pause(stepMsMax)])
  }

  return {
    left,
    async begin() {
      if (!begun) {
        begun = true
        await drain().finally(resolve)
      }
      await left
    },
    cutShort: () => impatient.abort(),
  }
}
