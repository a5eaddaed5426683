/**
 * A run that receives a stop request first has a moment to stop itself (its heartbeat throws, its signal aborts); then its thread
 * is terminated, or its child killed.
 */
import type { AbortReason } from '../pulse-layout.ts'
import { fencedGraceMs } from './fence-bound.ts'
import { pause } from './loop.ts'
import type { Pulse } from './pulse-board.ts'

/** Terminates the run after its grace, once a stop is requested. Returns a function to call when the run has ended by itself. */
export function terminateAfterGrace(pulse: Pulse, stopGraceMs: number, terminate: () => void): () => void {
  const ended = new AbortController()
  const over = AbortSignal.any([ended.signal, pulse.outOfTime])
  pulse.signal.addEventListener('abort', () => {
    // Once it has ended by itself nothing is terminated: its thread or child may have the next run already.
    void graceOf(pulse, stopGraceMs, over).then(() => ended.signal.aborted || terminate())
  })
  return () => ended.abort()
}

/** Other replicas or users wait for these to be gone; code that has not even noticed by then is not going to clean up. */
const unnoticedMs: Partial<Record<AbortReason, number>> = { cancelled: 500, 'lease lost': 500 }

async function graceOf(pulse: Pulse, usualMs: number, over: AbortSignal): Promise<void> {
  const { stopReason: reason } = pulse
  // Others may start it, or what waits for it, soon: it is gone before that.
  const graceMs = reason === 'cut off from the database' ? Math.min(usualMs, fencedGraceMs) : usualMs
  const firstMs = Math.min(graceMs, (reason && unnoticedMs[reason]) ?? graceMs)
  await pause(firstMs, over)
  if (pulse.noticed()) await pause(graceMs - firstMs, over)
}
