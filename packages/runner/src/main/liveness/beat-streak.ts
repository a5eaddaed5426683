/**
 * How long the database has accepted the heartbeats of this replica without a gap, on the replica's own monotonic
 * clock. A reaper that could not send heartbeats must not blame other replicas for the same outage, so it applies a
 * threshold only after its streak is at least that long. A failed heartbeat breaks the streak, and so does a gap that
 * only a suspended process or a jump of the clock explains. Heartbeats and the presence session have a streak each.
 *
 * It also measures the time since the last accepted heartbeat was sent. Other replicas have seen nothing newer.
 */
export interface BeatStreak {
  /** `sentMs`: when the heartbeat was sent, not when the database accepted it. */
  beatAccepted(sentMs: number): void
  beatFailed(): void
  /** The process was suspended; `asleepMs`: the part that the monotonic clock did not count. */
  suspended(asleepMs: number): void
  /** 0 if the last heartbeat failed or is too old. */
  unbrokenForMs(nowMs: number): number
  /** Time since the last accepted heartbeat was sent. */
  silentForMs(nowMs: number): number
}

/** A heartbeat that is late by more than this factor counts as a gap. */
const lateFactor = 3

/** `bornMs`: when the replica registered, which is its first heartbeat. */
export function createBeatStreak(beatEveryMs: number, bornMs: number = Number.NEGATIVE_INFINITY): BeatStreak {
  let unbrokenSinceMs: number | undefined
  let lastMs = bornMs
  const broken = (nowMs: number) => nowMs - lastMs > beatEveryMs * lateFactor
  return {
    beatAccepted(sentMs) {
      if (unbrokenSinceMs === undefined || broken(sentMs)) unbrokenSinceMs = sentMs
      lastMs = sentMs
    },
    beatFailed() {
      unbrokenSinceMs = undefined
    },
    suspended(asleepMs) {
      unbrokenSinceMs = undefined
      lastMs -= asleepMs
    },
    unbrokenForMs: (nowMs) => (unbrokenSinceMs === undefined || broken(nowMs) ? 0 : nowMs - unbrokenSinceMs),
    silentForMs: (nowMs) => nowMs - lastMs,
  }
}
