/**
 * Group commit by back-pressure: items that arrive while a statement is in flight go together into the next statement,
 * and each caller gets its own answer. Nothing waits when nothing is in flight.
 *
 * It is in this package because the runner and the client both need it, and only the store is common to both.
 */
export interface Batcher<Item, Answer> {
  add(item: Item): Promise<Answer>
}

export function createBatcher<Item, Answer>(
  send: (items: readonly Item[]) => Promise<readonly Answer[]>,
  batchMax: number,
): Batcher<Item, Answer> {
  interface Waiting {
    readonly item: Item
    readonly resolve: (answer: Answer) => void
    readonly reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let inFlight = false

  async function flush(): Promise<void> {
    inFlight = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax)
      waiting = waiting.slice(batchMax)
      try {
        const answers = await send(batch.map((entry) => entry.item))
        for (const [index, entry] of batch.entries()) entry.resolve(answers[index] as Answer)
      } catch (error) {
        for (const entry of batch) entry.reject(error)
      }
    }
    inFlight = false
  }

  return {
    add(item) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      waiting.push({ item, resolve, reject })
      if (!inFlight) void flush()
      return promise
    },
  }
}
