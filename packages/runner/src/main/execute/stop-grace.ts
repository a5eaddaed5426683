/**
 * Stops a run in two steps. After a stop request the code has a grace period to stop itself (its heartbeat throws, its
 * signal aborts); then its thread is terminated or its child process killed.
 */
import type { AbortReason } from '../../protocol/slot-layout.ts'
import { fencedGraceMs } from '../liveness/self-fence-limits.ts'
import { pause } from '../loop.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'

/** Terminates the run when its grace period has passed after a stop request. The caller calls the returned function when the run has ended by itself. */
export function terminateAfterGrace(monitor: RunMonitor, stopGraceMs: number, terminate: () => void): () => void {
  const ended = new AbortController()
  const over = AbortSignal.any([ended.signal, monitor.outOfTime])
  monitor.signal.addEventListener('abort', () => {
    // A run that has ended by itself is not terminated: its thread or child may already execute the next run.
    void graceOf(monitor, stopGraceMs, over).then(() => ended.signal.aborted || terminate())
  })
  return () => ended.abort()
}

/** Shorter grace for code that has not noticed the stop: other replicas or users wait for its end, and it will not clean up. */
const unnoticedMs: Partial<Record<AbortReason, number>> = { cancelled: 500, 'lease lost': 500 }

async function graceOf(monitor: RunMonitor, usualMs: number, over: AbortSignal): Promise<void> {
  const { stopReason: reason } = monitor
  // It must end before other replicas may start it, or the next run of its concurrency key.
  const graceMs = reason === 'cut off from the database' ? Math.min(usualMs, fencedGraceMs) : usualMs
  const firstMs = Math.min(graceMs, (reason && unnoticedMs[reason]) ?? graceMs)
  await pause(firstMs, over)
  if (monitor.noticed()) await pause(graceMs - firstMs, over)
}
