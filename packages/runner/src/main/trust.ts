/**
 * How far a replica may trust its own eyes: for how long its beats have been accepted without a gap, on its own
 * monotonic clock. Nobody is reaped for having been unable to beat, so a reaper applies a threshold only after its own
 * beats have been good for that long. A failed beat, or a gap that only a stopped process or a jumping clock explains,
 * begins it again.
 */
export interface Trust {
  beatAccepted(nowMs: number): void
  beatFailed(): void
  /** 0: not at all. */
  goodForMs(nowMs: number): number
}

/** Beats may be late by this factor before the gap is taken for a stop. */
const lateFactor = 3

export function createTrust(beatEveryMs: number): Trust {
  let goodSinceMs: number | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  const broken = (nowMs: number) => nowMs - lastMs > beatEveryMs * lateFactor
  return {
    beatAccepted(nowMs) {
      if (goodSinceMs === undefined || broken(nowMs)) goodSinceMs = nowMs
      lastMs = nowMs
    },
    beatFailed() {
      goodSinceMs = undefined
    },
    goodForMs: (nowMs) => (goodSinceMs === undefined || broken(nowMs) ? 0 : nowMs - goodSinceMs),
  }
}
