/**
 * How a replica leaves: it stops the remaining runs, releases what has not started, ends its loops, and heartbeats last.
 *
 * Every step has a limit, so a database that is gone or frozen does not keep the process alive. A run whose code could not
 * be stopped, or whose outcome could not be written, is left behind: the replica then does not retire and keeps its
 * session, which ends with the process; other replicas recover the run after that.
 */
import type { Slots } from './dispatch/slots.ts'
import type { Observe } from './events.ts'
import type { RunMonitors } from './liveness/run-monitors.ts'
import { within } from './loop.ts'

export interface LeaveDeps {
  readonly slots: Slots
  readonly runMonitors: RunMonitors
  readonly observe: Observe
  readonly nowMs: () => number
  /** How long the code of a run may take to stop. */
  readonly stopGraceMs: number
  /** Releases runs that have not started; returns how many it still holds, because other transactions have locked them. */
  readonly releaseUnstarted: () => Promise<number>
  readonly stopIntake: () => Promise<unknown>
  /** Ends the work that this replica does for other replicas. */
  readonly stopWatching: () => Promise<unknown>
  /** Ends the heartbeats of the replica and of its runs. */
  readonly stopBeats: () => Promise<unknown>
  /** Adds what was counted since the last flush to the tally. */
  readonly flushCounts: () => Promise<void>
  readonly retire: () => Promise<void>
  readonly closeSession: () => void
  readonly closeAll: () => Promise<void>
}

const stepMsMax = 3_000
/** For runs to stop and their outcomes to be written; then the process leaves without them. */
const lastMsMin = 10_000
const writeMsMax = 5_000

/** `begunMs`: when the drain began. Returns how many runs were left behind. */
export async function leave(deps: LeaveDeps, begunMs: number): Promise<number> {
  const { observe } = deps
  await stopRemaining(deps)
  const [unreleased = 0] = await Promise.all([
    // Released again: a last claim may have been slow, or the database unreachable.
    withinStepLimit(observe, deps.releaseUnstarted()),
    withinStepLimit(observe, deps.stopIntake()),
    withinStepLimit(observe, deps.stopWatching()),
  ])
  await withinStepLimit(observe, deps.flushCounts())
  await withinStepLimit(observe, deps.stopBeats())
  const leftBehind = deps.slots.runs() + unreleased
  if (leftBehind === 0) {
    await withinStepLimit(observe, deps.retire())
    deps.closeSession()
  }
  await withinStepLimit(observe, deps.closeAll())
  const tookMs = Math.round(deps.nowMs() - begunMs)
  observe(leftBehind === 0 ? { type: 'drained', tookMs } : { type: 'left-runs-behind', running: leftBehind, tookMs })
  return leftBehind
}

async function stopRemaining({ slots, runMonitors, observe, stopGraceMs }: LeaveDeps): Promise<void> {
  if (slots.busy() === 0) return
  observe({ type: 'drain-cut-short', running: slots.runs() })
  for (const running of runMonitors.all()) running.stop('replica draining')
  await within(Math.max(lastMsMin, stopGraceMs + writeMsMax), slots.allFree())
}

/** The result of a step; undefined if it failed or took too long. */
export async function withinStepLimit<T>(observe: Observe, step: Promise<T>): Promise<T | undefined> {
  const failed = (error: unknown) => {
    observe({ type: 'drain-step-failed', error })
    return undefined
  }
  return within(stepMsMax, step.catch(failed))
}
