/**
 * How far a replica may trust its own eyes: for how long its beats have been accepted without a gap, on its own
 * monotonic clock. Nobody is reaped for having been unable to beat, so a reaper applies a threshold only after its own
 * beats have been good for that long. A failed beat, or a gap that only a stopped process or a jumping clock explains,
 * begins it again. There is one for each kind of evidence: heartbeats, and the presence session.
 *
 * It also knows how long ago the last accepted beat was sent: what others can have seen of us is not younger.
 */
export interface Trust {
  /** `sentMs`: when it was sent; accepted it was later. */
  beatAccepted(sentMs: number): void
  beatFailed(): void
  /** The process was stopped, or asleep for so long that the monotonic clock does not know of. */
  clockJumped(asleepMs: number): void
  /** 0: not at all. */
  goodForMs(nowMs: number): number
  /** Since the last accepted beat was sent. */
  silentForMs(nowMs: number): number
}

/** Beats may be late by this factor before the gap is taken for a stop. */
const lateFactor = 3

/** `bornMs`: introducing itself was the first beat. */
export function createTrust(beatEveryMs: number, bornMs: number = Number.NEGATIVE_INFINITY): Trust {
  let goodSinceMs: number | undefined
  let lastMs = bornMs
  const broken = (nowMs: number) => nowMs - lastMs > beatEveryMs * lateFactor
  return {
    beatAccepted(sentMs) {
      if (goodSinceMs === undefined || broken(sentMs)) goodSinceMs = sentMs
      lastMs = sentMs
    },
    beatFailed() {
      goodSinceMs = undefined
    },
    clockJumped(asleepMs) {
      goodSinceMs = undefined
      lastMs -= asleepMs
    },
    goodForMs: (nowMs) => (goodSinceMs === undefined || broken(nowMs) ? 0 : nowMs - goodSinceMs),
    silentForMs: (nowMs) => nowMs - lastMs,
  }
}
