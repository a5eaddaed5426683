/** Limits the requests in flight of one sender. Further requests wait, in the order in which they came. */
export interface RequestSlots {
  /** Calls `send` when a slot is free, and frees the slot when it has ended. */
  use<T>(send: () => Promise<T>): Promise<T>
}

export function createRequestSlots(most: number): RequestSlots {
  const waiting: (() => void)[] = []
  let used = 0

  async function taken(): Promise<void> {
    if (used < most) return void used++
    // The slot of an ended request passes on to the first that waits.
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    await promise
  }

  function free(): void {
    const next = waiting.shift()
    if (next === undefined) used--
    else next()
  }

  return {
    async use(send) {
      await taken()
      try {
        return await send()
      } finally {
        free()
      }
    },
  }
}
