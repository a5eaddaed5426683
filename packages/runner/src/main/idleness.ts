/**
 * The mark that says this replica waits for work, so that users' own transactions wake it. It is set as soon as there is
 * room, and taken away only when there has been none for a moment: a replica under load does not write it all the time.
 */
import type { Store } from '@q/store'

export interface Idleness {
  /** There is room and nothing to claim. True: it was marked just now, so look once more before waiting. */
  roomLeft(): Promise<boolean>
  /** Every slot is taken. */
  full(nowMs: number): Promise<void>
  /** The mark may have been lost with the server's life: it is set again when there is room. */
  forget(): void
}

const keptMsMin = 1_000

/** `hears`: without a session nobody would be woken, so nothing is marked. */
export function createIdleness(
  store: Pick<Store, 'markIdle' | 'markBusy'>,
  replicaId: string,
  hears: () => boolean,
): Idleness {
  let marked = false
  let fullSinceMs: number | undefined
  return {
    async roomLeft() {
      fullSinceMs = undefined
      if (marked || !hears()) return false
      await store.markIdle(replicaId)
      marked = true
      return true
    },
    async full(nowMs) {
      fullSinceMs ??= nowMs
      if (!marked || nowMs - fullSinceMs < keptMsMin) return
      await store.markBusy(replicaId)
      marked = false
    },
    forget() {
      marked = false
    },
  }
}
