/**
 * What this replica knows about its own presence: whether its session holds the lock, and, if it was lost, whether others
 * may take it for dead because of that. They may until its record is withdrawn, unless the server itself said that its
 * life has ended: records of an earlier life count for nothing.
 */
export interface OwnPresence {
  /** Has the lock, with its record entered. */
  isHeld(): boolean
  /** Its record may be there from now on. What was lost before and is not withdrawn yet goes on to count. */
  entering(nowMs: number): void
  /** Proved, by a question sent at that time. */
  held(goodAtMs?: number): void
  lost(nowMs: number): void
  /** The server is going down or coming up. */
  serverLifeEnded(): void
  /** The next beat must withdraw the record. */
  mustWithdraw(): boolean
  /** By a beat that was sent at that time: a session that was lost after that has left another record. */
  withdrawn(sentMs: number): void
  /** How long others may have been counting the grace, at worst since the last proof; undefined: they are not. */
  exposedForMs(nowMs: number): number | undefined
}

export function createOwnPresence(): OwnPresence {
  let state: 'none' | 'entering' | 'held' | 'lost' = 'none'
  let goodAtMs: number | undefined
  /** Since when others may be counting, by a record that is not withdrawn. */
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
