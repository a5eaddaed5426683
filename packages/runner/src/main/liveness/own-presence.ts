/**
 * The presence of this replica as it knows it: whether its session holds the lock, and, after it lost the session, whether
 * other replicas may consider it dead for that. They may until the presence record is withdrawn. If the server itself
 * reported a shutdown or crash, they do not: records from before a restart do not count.
 */
export interface OwnPresence {
  /** Whether the session holds the lock and its record is inserted. */
  isHeld(): boolean
  /** From now on the record may exist. An earlier record that is not withdrawn still counts. */
  entering(nowMs: number): void
  /** The session proved its presence, by a request sent at that time. */
  held(goodAtMs?: number): void
  lost(nowMs: number): void
  /** The server is shutting down, starting up or crashed. */
  serverLifeEnded(): void
  /** Whether the next heartbeat must withdraw the record. */
  mustWithdraw(): boolean
  /** A heartbeat sent at that time withdrew the record. A session that was lost later has left another record. */
  withdrawn(sentMs: number): void
  /**
   * The longest time for which other replicas can have been counting the grace, at most since the last proof;
   * undefined: they are not counting.
   */
  exposedForMs(nowMs: number): number | undefined
}

export function createOwnPresence(): OwnPresence {
  let state: 'none' | 'entering' | 'held' | 'lost' = 'none'
  let goodAtMs: number | undefined
  /** Since when other replicas may be counting, because of a record that is not withdrawn. */
  let lostAtMs: number | undefined
  let noticedMs = 0
  let lifeEnded = false
  const isExposed = () => state === 'lost' || (state === 'entering' && lostAtMs !== undefined)
  return {
    isHeld: () => state === 'held',
    entering(nowMs) {
      if (!isExposed() || lifeEnded) lostAtMs = undefined
      state = 'entering'
      goodAtMs = lostAtMs ?? nowMs
    },
    held(atMs) {
      state = 'held'
      goodAtMs = atMs
    },
    lost(nowMs) {
      if (state !== 'held' && state !== 'entering') return
      state = 'lost'
      lostAtMs = goodAtMs ?? nowMs
      noticedMs = nowMs
      lifeEnded = false
    },
    serverLifeEnded() {
      lifeEnded = true
    },
    mustWithdraw: isExposed,
    withdrawn(sentMs) {
      if (!isExposed() || noticedMs > sentMs) return
      lostAtMs = undefined
      if (state === 'lost') state = 'none'
      else goodAtMs = sentMs
    },
    exposedForMs: (nowMs) => (isExposed() && !lifeEnded && lostAtMs !== undefined ? nowMs - lostAtMs : undefined),
  }
}
