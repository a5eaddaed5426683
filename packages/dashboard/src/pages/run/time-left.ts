/**
 * When a run may be done, from the progress that its code reported. Pure. An attempt that goes on from an earlier one begins with
 * progress that it did not make, so its speed is measured from the first progress that was seen of it.
 */
export interface Mark {
  readonly progress: number
  readonly at: number
}

/** The part of the remaining way after which the speed is known well enough. */
const knownFrom = 0.1

/** Undefined: not known yet. */
export function timeLeftMs(from: Mark, progress: number, now: number): number | undefined {
  const made = progress - from.progress
  if (progress >= 1 || made <= 0 || made < knownFrom * (1 - from.progress)) return undefined
  return ((now - from.at) * (1 - progress)) / made
}
