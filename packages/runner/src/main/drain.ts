/**
 * Leaving: stop claiming, let runs finish until the deadline, stop those that are left, and only then stop beating.
 * Asked a second time the deadline is now. A database that is gone does not keep the process from leaving.
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
  /** What brings new runs. */
  readonly intake: readonly Loop[]
  /** What keeps runs and the replica alive in the eyes of others. */
  readonly beats: readonly Loop[]
  readonly stopListening: () => Promise<void>
  readonly retire: () => Promise<void>
  readonly closeAll: () => Promise<void>
}

export interface Drain {
  ask(): Promise<void>
  readonly left: Promise<void>
}

/** For outcomes of stopped runs to be written; then the process leaves without them. */
const lastWritesMs = 10_000

export function createDrain(deps: DrainDeps): Drain {
  const cutShort = new AbortController()
  const { promise: left, resolve } = Promise.withResolvers<void>()
  let asked = false

  async function drain(): Promise<void> {
    const begunMs = deps.nowMs()
    deps.observe({ type: 'draining', running: deps.slots.busy(), drainMs: deps.drainMs })
    await Promise.all(deps.intake.map((loop) => loop.stop()))
    await unlessGone(deps.stopListening)
    await Promise.race([deps.slots.allFree(), pause(deps.drainMs, cutShort.signal)])
    await stopRemaining()
    for (const loop of deps.beats) await loop.stop()
    await unlessGone(deps.retire)
    await unlessGone(deps.closeAll)
    deps.observe({ type: 'drained', tookMs: Math.round(deps.nowMs() - begunMs) })
  }

  async function stopRemaining(): Promise<void> {
    if (deps.slots.busy() === 0) return
    deps.observe({ type: 'drain-cut-short', running: deps.slots.busy() })
    for (const running of deps.pulseBoard.all()) running.stop('replica draining')
    await Promise.race([deps.slots.allFree(), pause(lastWritesMs)])
  }

  async function unlessGone(step: () => Promise<void>): Promise<void> {
    await step().catch((error: unknown) => deps.observe({ type: 'loop-failed', loop: 'drain', error, retryInMs: 0 }))
  }

  return {
    left,
    async ask() {
      if (asked) cutShort.abort()
      else {
        asked = true
        await drain().finally(resolve)
      }
      await left
    },
  }
}
