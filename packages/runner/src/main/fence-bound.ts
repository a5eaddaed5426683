/**
 * How long a replica may go without an accepted beat before it must stop those of its runs that others may start: well
 * before the first of its thresholds has passed in the eyes of others, with room for a beat under way and for the time
 * that stopping takes. And how often it beats, so that in good times it never comes near.
 */
import type { Thresholds } from '@q/store'

/** How often it looks whether it is cut off. */
export const fenceTickMs = 250
/** What code has to clean up that is stopped because others may start it: noticed or not, and whatever the settings say. */
export const fencedGraceMs = 250
/** For the look that comes late by a tick, for the grace, and for the thread or child to be ended. */
const stoppingMs: number = fenceTickMs + fencedGraceMs + 250
const marginMsMax = 5_000
const unplacedMs = 5_000

/** How often its session proves itself, and how long that may take. Both together: a lost one is noticed after that. */
export const proofMs = { every: 700, max: 700 } as const
/** So long that whoever lost its session without being told still has time to withdraw its record. */
export const presenceGraceMsMin: number = proofMs.every + proofMs.max + stoppingMs

export function fenceBoundMs(thresholds: Thresholds): number {
  const { replicaBeatMs, replicaStaleMs, claimerBeatMs, claimerStaleMs } = thresholds
  return Math.min(
    boundOfMs(replicaStaleMs, replicaBeatMs),
    boundOfMs(claimerStaleMs, claimerBeatMs),
    runFenceBoundMs(thresholds),
  )
}

/** The same for beats that carry single runs: without one accepted for so long, that run is stopped. */
export function runFenceBoundMs({ runnerBeatMs, runnerStaleMs }: Thresholds): number {
  return boundOfMs(runnerStaleMs, runnerBeatMs)
}

export function presenceFenceMs(presenceGraceMs: number): number {
  return presenceGraceMs - stoppingMs
}

/** How long a run that is RUNNING for others may wait here without beats. */
export function unplacedMsMax(thresholds: Thresholds): number {
  return Math.min(unplacedMs, fenceBoundMs(thresholds) / 2)
}

/** Never less often than the replica promised. */
export function beatIntervalMs(thresholds: Thresholds): number {
  return Math.min(thresholds.replicaBeatMs, fenceBoundMs(thresholds) / 2)
}

/** The same for runs. */
export function runBeatIntervalMs(thresholds: Thresholds): number {
  return Math.min(thresholds.runnerBeatMs, runFenceBoundMs(thresholds) / 2)
}

/** At or below 0: there is no time to stop a run before others start it. */
export function boundOfMs(staleMs: number, beatMs: number): number {
  return staleMs - beatMs - Math.max(stoppingMs - beatMs, Math.min(marginMsMax, staleMs / 10))
}
