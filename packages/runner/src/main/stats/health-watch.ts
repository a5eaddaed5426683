/**
 * Acts on the health of this replica: reports a change, and releases waiting runs while it is not healthy, so that healthy
 * replicas can start them.
 */
import type { Observe } from '../events.ts'
import type { ProcessStats } from './process-stats.ts'

export interface HealthWatchDeps {
  readonly processStats: Pick<ProcessStats, 'health' | 'read'>
  readonly observe: Observe
  readonly releaseWaiting: () => Promise<void>
  readonly onChanged: () => void
}

/** Returns the function to call after every judgement. */
export function createHealthWatch({ processStats, observe, releaseWaiting, onChanged }: HealthWatchDeps): () => void {
  let last = processStats.health()
  return () => {
    const { health, cpuPercent, memoryMb } = processStats.read()
    // Repeated with every heartbeat: a claim may have been in flight, or the database unreachable. Runs that are not
    // released yet keep getting heartbeats.
    if (health !== 'healthy') void releaseWaiting().catch(() => {})
    if (health === last) return
    last = health
    observe({ type: 'health-changed', health, cpuPercent, memoryMb })
    onChanged()
  }
}
