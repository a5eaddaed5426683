/**
 * Checks every run in execution, often enough to apply its limits, and stops a run that exceeds one; execute.ts does the
 * rest. The limits are wall clock and silence: `maxSilent` where it is set, else no evidence of life at all.
 *
 * The no-evidence limit ends shortly before the threshold at which another replica would recover the run. It does not
 * depend on the interval of heartbeats: the replica sends one at once for a run that it stops (`onStopped`).
 */
import { relayEveryMs } from '../../protocol/child-messages.ts'
import type { AbortReason } from '../../protocol/slot-layout.ts'
import { after, type Next, whenWoken } from '../loop.ts'
import type { RunMonitor } from './run-monitor.ts'
import type { RunMonitors } from './run-monitors.ts'

export interface RunLimitsDeps {
  readonly runMonitors: RunMonitors
  readonly noEvidenceMsMax: number
  readonly nowMs: () => number
  /** A run is being stopped: the replica sends its heartbeats from now on. */
  readonly onStopped: () => void
  /** Moves runs away from threads whose run takes longer than expected. */
  readonly relieveThreads?: () => void
  /** Whether nothing is in execution. The loop then rests until the next run is handed to a thread or child. */
  readonly isIdle?: () => boolean
}

const lookEveryMs = 100

export function runLimitsTick(deps: RunLimitsDeps): Promise<Next> {
  const nowMs = deps.nowMs()
  for (const monitor of deps.runMonitors.all()) {
    const limit = limitReached(monitor, nowMs, deps.noEvidenceMsMax)
    if (limit === undefined) continue
    monitor.stop(limit)
    deps.onStopped()
  }
  deps.relieveThreads?.()
  return Promise.resolve(deps.isIdle?.() ? whenWoken : after(lookEveryMs))
}

const marginMsMax = 5_000

/** The no-evidence limit. It leaves time for the heartbeat after a stop, and grows with the threshold. */
export function noEvidenceMsMax({ runnerStaleMs }: { runnerStaleMs: number }): number {
  return runnerStaleMs - Math.min(marginMsMax, runnerStaleMs / 5)
}

/** A child relays its signs at intervals, so the last one may not have arrived yet. */
const onTheWayMs = { thread: 0, process: 2 * relayEveryMs } as const

/** Before a thread has taken the run, no code can be silent, so `maxSilent` does not apply. */
function limitReached(monitor: RunMonitor, nowMs: number, noEvidenceMs: number): AbortReason | undefined {
  const { timeoutMs, maxSilentMs, isolation } = monitor.facts
  const { ranMs, silentMs, beatMs } = monitor.look(nowMs)
  if (monitor.isBeingHandled()) return undefined
  if (timeoutMs !== null && ranMs !== undefined && ranMs >= timeoutMs) return 'timed out'
  if (maxSilentMs === null || ranMs === undefined) return beatMs >= noEvidenceMs ? 'no evidence of life' : undefined
  return silentMs >= maxSilentMs + onTheWayMs[isolation] ? 'silent for too long' : undefined
}
