/**
 * What this replica knows about its own presence: whether its session holds the lock, and, if it was lost, whether others
 * may take it for dead because of that. They may until its record is withdrawn, unless the server itself said that its
 * life has ended: records of an earlier life count for nothing.
 */
export interface OwnPresence {
  /** Has the lock, with its record entered, or is about to. */
  isHeld(): boolean
  /** About to be, or proved by a question sent at that time. */
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
  let state: 'none' | 'held' | 'lost' = 'none'
  let goodAtMs: number | undefined
  let lostAtMs = 0
  let noticedMs = 0
  let lifeEnded = false
  return {
    isHeld: () => state === 'held',
    held(atMs) {
      state = 'held'
      goodAtMs = atMs
    },
    lost(nowMs) {
      if (state !== 'held') return
      state = 'lost'
      lostAtMs = goodAtMs ?? nowMs
      noticedMs = nowMs
      lifeEnded = false
    },
    serverLifeEnded() {
      lifeEnded = true
    },
    mustWithdraw: () => state === 'lost',
    withdrawn(sentMs) {
      if (state === 'lost' && noticedMs <= sentMs) state = 'none'
    },
    exposedForMs: (nowMs) => (state === 'lost' && !lifeEnded ? nowMs - lostAtMs : undefined),
  }
}
