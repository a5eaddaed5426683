/**
 * Looks at every run in execution, often enough to apply its limits: wall clock, silence, and no evidence of life at
 * all. Whoever is over a limit is told to stop; what follows is execute.ts.
 *
 * A run without any evidence is dealt with here before its beats are so old that another replica would.
 */
import { relayEveryMs } from '../../child-protocol.ts'
import { after, type Next } from '../loop.ts'
import type { Pulse, PulseBoard } from '../pulse-board.ts'

export interface WatchDeps {
  readonly pulseBoard: PulseBoard
  readonly noEvidenceMsMax: number
  readonly nowMs: () => number
}

const lookEveryMs = 100

export function watchTick(deps: WatchDeps): Promise<Next> {
  const nowMs = deps.nowMs()
  for (const pulse of deps.pulseBoard.all()) applyLimits(pulse, nowMs, deps.noEvidenceMsMax)
  return Promise.resolve(after(lookEveryMs))
}

/** Room for the beat that may be under way, and for the one after it. */
export function noEvidenceMsMax(thresholds: { runnerStaleMs: number; runnerBeatMs: number }): number {
  return thresholds.runnerStaleMs - 1.5 * thresholds.runnerBeatMs
}

/** Signs of a child are passed on now and then: one may have been given that is not seen yet. */
const onTheWayMs = { thread: 0, process: 2 * relayEveryMs } as const

function applyLimits(pulse: Pulse, nowMs: number, noEvidenceMs: number): void {
  const { timeoutMs, maxSilentMs, isolation } = pulse.facts
  const { ranMs = 0, silentMs, beatMs } = pulse.look(nowMs)
  if (pulse.inGoodHands()) return
  if (timeoutMs !== null && ranMs >= timeoutMs) pulse.stop('timed out')
  else if (maxSilentMs !== null && silentMs >= maxSilentMs + onTheWayMs[isolation]) pulse.stop('silent for too long')
  else if (beatMs >= noEvidenceMs) pulse.stop('silent for too long')
}
