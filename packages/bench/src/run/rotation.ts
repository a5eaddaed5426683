/** The order of the samples: round by round, and in each round another entrant first. */
import type { Entrant, Measurement } from '../measurements/measurement.ts'

export interface ScheduledSample {
  readonly measurement: Measurement
  readonly entrant: Entrant
  readonly round: number
}

export function rotation(measurements: readonly Measurement[], rounds: number): ScheduledSample[] {
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    measurements
      .filter(({ once = false }) => round === 1 || !once)
      .flatMap((measurement) =>
        rotated(measurement.entrants, round - 1).map((entrant) => ({ measurement, entrant, round })),
      ),
  )
}

function rotated<T>(list: readonly T[], places: number): T[] {
  const first = list.length === 0 ? 0 : places % list.length
  return [...list.slice(first), ...list.slice(0, first)]
}
