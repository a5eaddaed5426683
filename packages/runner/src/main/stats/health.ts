/**
 * The health of a replica, and what follows from it: how many slots it may fill, and how often it sends heartbeats.
 *
 * The CPU time of its runs does not count: a replica whose runs keep every core busy is healthy (docs/decisions/0009).
 * Memory is resident memory; its limits never exceed a share of the memory of the container.
 */
import type { ReplicaStats } from '@q/store'

export type Health = ReplicaStats['health']

export interface HealthLimits {
  readonly degradedCpu: number
  readonly unhealthyCpu: number
  readonly degradedMb: number
  readonly unhealthyMb: number
}

const share = { degraded: 0.7, unhealthy: 0.9 }

/** `containerMb`: 0 or a very large number if there is no limit. */
export function limitsWithin(containerMb: number, limits: HealthLimits): HealthLimits {
  if (containerMb <= 0) return limits
  return {
    ...limits,
    degradedMb: Math.min(limits.degradedMb, containerMb * share.degraded),
    unhealthyMb: Math.min(limits.unhealthyMb, containerMb * share.unhealthy),
  }
}

export function judge(sign: { cpuPercent: number; memoryMb: number }, limits: HealthLimits): Health {
  if (sign.cpuPercent > limits.unhealthyCpu || sign.memoryMb > limits.unhealthyMb) return 'unhealthy'
  if (sign.cpuPercent > limits.degradedCpu || sign.memoryMb > limits.degradedMb) return 'degraded'
  return 'healthy'
}

/** The number of free slots that the replica may fill. */
export function slotsToFill(health: Health, slots: { readonly total: number; readonly free: number }): number {
  switch (health) {
    case 'healthy':
      return slots.free
    case 'degraded':
      return Math.max(0, Math.ceil(slots.total / 2) - (slots.total - slots.free))
    case 'unhealthy':
      return 0
  }
}

/** Below this, a shorter interval shows nothing new: health is measured at most once a second. */
const beatMsMin = 1_000

/** The time until the next heartbeat. Poor health shortens the interval and never lengthens it. */
export function beatInMs(health: Health, everyMs: number): number {
  const parts = { healthy: 1, degraded: 2, unhealthy: 4 }[health]
  return Math.min(everyMs, Math.max(beatMsMin, everyMs / parts))
}
