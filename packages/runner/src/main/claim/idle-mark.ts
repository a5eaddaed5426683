/**
 * The mark in the database that this replica waits for work: users' transactions wake only marked replicas. It is set as
 * soon as a slot is free, and removed when all slots have been taken for a second, so a replica under load does not
 * rewrite it all the time.
 */
import type { Store } from '@q/store'

export interface IdleMark {
  /** A slot is free and there is nothing to claim. Returns whether the mark is new: then ask once more before waiting. */
  roomLeft(): Promise<boolean>
  /** Every slot is taken. */
  full(nowMs: number): Promise<void>
  /** The server may have lost the mark: the next `roomLeft()` sets it again. */
  invalidate(): void
}

const keptMsMin = 1_000

/** `canBeWoken`: whether wakes can reach this replica; if not, it sets no mark. */
export function createIdleMark(
  store: Pick<Store, 'markIdle' | 'markBusy'>,
  replicaId: string,
  canBeWoken: () => boolean,
): IdleMark {
  let marked = false
  let fullSinceMs: number | undefined
  return {
    async roomLeft() {
      fullSinceMs = undefined
      if (marked || !canBeWoken()) return false
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
    invalidate() {
      marked = false
    },
  }
}
