/** Slots, each with room for one run. They are the only back-pressure: a run is not claimed without a slot. */
export interface Slots {
  readonly total: number
  free(): number
  busy(): number
  /** The number of runs that are executing or whose outcome is not written. */
  runs(): number
  /** Takes a slot and returns its index. */
  take(): number
  release(slot: number): void
  /** Resolves when no slot is taken. */
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
    release(slot) {
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
