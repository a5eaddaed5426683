/**
 * How long a replica may go without an accepted beat before it must stop those of its runs that others may start: well
 * before the first of its thresholds has passed in the eyes of others, with room for a beat under way and for the time
 * that stopping takes. And how often it beats, so that in good times it never comes near.
 */
import type { Thresholds } from '@q/store'

const marginMsMax = 5_000
/** Of the grace after a lost session. */
const presenceMarginMs = 500
const unplacedMs = 5_000

export function fenceBoundMs(thresholds: Thresholds): number {
  const { replicaBeatMs, replicaStaleMs, claimerBeatMs, claimerStaleMs } = thresholds
  return Math.min(
    boundOf(replicaStaleMs, replicaBeatMs),
    boundOf(claimerStaleMs, claimerBeatMs),
    runFenceBoundMs(thresholds),
  )
}

/** The same for beats that carry single runs: without one accepted for so long, that run is stopped. */
export function runFenceBoundMs({ runnerBeatMs, runnerStaleMs }: Thresholds): number {
  return boundOf(runnerStaleMs, runnerBeatMs)
}

export function presenceFenceMs(presenceGraceMs: number): number {
  return presenceGraceMs - presenceMarginMs
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

function boundOf(staleMs: number, beatMs: number): number {
  return staleMs - beatMs - Math.min(marginMsMax, staleMs / 10)
}
