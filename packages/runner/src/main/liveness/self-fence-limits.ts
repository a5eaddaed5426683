/**
 * How long a replica may go without an accepted heartbeat before it stops the runs that other replicas may start. The limit
 * ends well before the first threshold at which others act, and leaves room for a heartbeat in flight and for stopping. The
 * heartbeat intervals here keep a healthy replica far from that limit.
 */
import type { Thresholds } from '@q/store'

/** How often a replica checks whether it is cut off. */
export const fenceTickMs = 250
/** The same while it executes nothing: only a suspension matters then. */
export const idleFenceTickMs = 1_000
/** The time to clean up for code that is stopped by the fence, whatever the settings say. */
export const fencedGraceMs = 250
/** Room for a tick that is late, for the grace, and for terminating the thread or child. */
const stoppingMs: number = fenceTickMs + fencedGraceMs + 250
const marginMsMax = 5_000
const awaitingSlotMs = 5_000

/** How often the session proves itself, and how long a proof may take. The sum is the time to notice a lost session. */
export const proofMs = { every: 700, max: 700 } as const
/** Long enough for a replica that lost its session unnoticed to withdraw its record. */
export const presenceGraceMsMin: number = proofMs.every + proofMs.max + stoppingMs

export function replicaFenceMs(thresholds: Thresholds): number {
  const { replicaBeatMs, replicaStaleMs, claimerBeatMs, claimerStaleMs } = thresholds
  return Math.min(
    fenceMsOf(replicaStaleMs, replicaBeatMs),
    fenceMsOf(claimerStaleMs, claimerBeatMs),
    runFenceMs(thresholds),
  )
}

/** The same for run heartbeats: a run without an accepted one for this long is stopped. */
export function runFenceMs({ runnerBeatMs, runnerStaleMs }: Thresholds): number {
  return fenceMsOf(runnerStaleMs, runnerBeatMs)
}

export function presenceFenceMs(presenceGraceMs: number): number {
  return presenceGraceMs - stoppingMs
}

/** How long a started run may wait here without heartbeats. */
export function awaitingSlotMsMax(thresholds: Thresholds): number {
  return Math.min(awaitingSlotMs, replicaFenceMs(thresholds) / 2)
}

/** At most the interval that the replica promised. */
export function beatIntervalMs(thresholds: Thresholds): number {
  return Math.min(thresholds.replicaBeatMs, replicaFenceMs(thresholds) / 2)
}

/** The same for runs. */
export function runBeatIntervalMs(thresholds: Thresholds): number {
  return Math.min(thresholds.runnerBeatMs, runFenceMs(thresholds) / 2)
}

/** At or below 0, there is no time to stop a run before others start it. */
export function fenceMsOf(staleMs: number, beatMs: number): number {
  return staleMs - beatMs - Math.max(stoppingMs - beatMs, Math.min(marginMsMax, staleMs / 10))
}
