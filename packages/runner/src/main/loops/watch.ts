/**
 * Checks every run in execution, often enough to apply its limits, and stops a run that exceeds one; execute.ts does the
 * rest. The limits are wall clock and silence: `maxSilent` where it is set, else no evidence of life at all.
 *
 * The no-evidence limit ends shortly before the threshold at which another replica would recover the run. It does not
 * depend on the interval of heartbeats: the replica sends one at once for a run that it stops (`onStopped`).
 */
import { relayEveryMs } from '../../child-protocol.ts'
import type { AbortReason } from '../../pulse-layout.ts'
import { after, type Next } from '../loop.ts'
import type { Pulse, PulseBoard } from '../pulse-board.ts'

export interface WatchDeps {
  readonly pulseBoard: PulseBoard
  readonly noEvidenceMsMax: number
  readonly nowMs: () => number
  /** A run is being stopped: the replica sends its heartbeats from now on. */
  readonly onStopped: () => void
  /** Of runs behind one that takes longer than expected. */
  readonly relieveThreads?: () => void
}

const lookEveryMs = 100

export function watchTick(deps: WatchDeps): Promise<Next> {
  const nowMs = deps.nowMs()
  for (const pulse of deps.pulseBoard.all()) {
    const limit = limitReached(pulse, nowMs, deps.noEvidenceMsMax)
    if (limit === undefined) continue
    pulse.stop(limit)
    deps.onStopped()
  }
  deps.relieveThreads?.()
  return Promise.resolve(after(lookEveryMs))
}

const marginMsMax = 5_000

/** The no-evidence limit. Leaves time for the heartbeat after a stop; grows with the threshold, so a slower preset is never less patient. */
export function noEvidenceMsMax({ runnerStaleMs }: { runnerStaleMs: number }): number {
  return runnerStaleMs - Math.min(marginMsMax, runnerStaleMs / 5)
}

/** Signs of a child are passed on now and then: one may have been given that is not seen yet. */
const onTheWayMs = { thread: 0, process: 2 * relayEveryMs } as const

/** Before a thread has taken the run there is no code to be silent, so `maxSilent` cannot apply. */
function limitReached(pulse: Pulse, nowMs: number, noEvidenceMs: number): AbortReason | undefined {
  const { timeoutMs, maxSilentMs, isolation } = pulse.facts
  const { ranMs, silentMs, beatMs } = pulse.look(nowMs)
  if (pulse.inGoodHands()) return undefined
  if (timeoutMs !== null && ranMs !== undefined && ranMs >= timeoutMs) return 'timed out'
  if (maxSilentMs === null || ranMs === undefined) return beatMs >= noEvidenceMs ? 'no evidence of life' : undefined
  return silentMs >= maxSilentMs + onTheWayMs[isolation] ? 'silent for too long' : undefined
}
