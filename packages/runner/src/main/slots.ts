/** Room for one run each: the only back-pressure. What has no slot is not claimed. */
export interface Slots {
  readonly total: number
  free(): number
  busy(): number
  /** Runs that are executing, or whose end is not written. */
  runs(): number
  /** Index of a slot that is now taken. */
  take(): number
  giveBack(slot: number): void
  /** Resolves when none is taken. */
  allFree(): Promise<void>
}

export function createSlots(total: number): Slots {
  const unused = Array.from({ length: total }, (_, index) => total - 1 - index)
  let waiters: (() => void)[] = []
  return {
    total,
    free: () => unused.length,
    busy: () => total - unused.length,
    runs: () => total - unused.length,
    take() {
      const slot = unused.pop()
      if (slot === undefined) throw new Error('More runs were claimed than there are free slots.')
      return slot
    },
    giveBack(slot) {
      unused.push(slot)
      if (unused.length < total) return
      for (const resolve of waiters) resolve()
      waiters = []
    },
    allFree() {
      if (unused.length === total) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiters.push(resolve)
      return promise
    },
  }
}
