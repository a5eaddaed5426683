/** A value read from the database and cached until it is too old for the caller. */
export interface CachedRead<T> {
  /**
   * Reads again if the value is older than this. `read` replaces the usual read, and does not wait for a usual read in
   * flight.
   */
  get(maxAgeMs: number, read?: () => Promise<T>): Promise<T>
}

/** Concurrent callers share one read. A failure is not kept. `nowMs`: any clock that does not jump. */
export function createCachedRead<T>(usualRead: () => Promise<T>, nowMs: () => number): CachedRead<T> {
  let known: { readonly value: T; readonly readMs: number } | undefined
  let reading: Promise<T> | undefined

  async function readBy(read: () => Promise<T>): Promise<T> {
    const readMs = nowMs()
    const value = await read()
    known = { value, readMs }
    return value
  }

  return {
    async get(maxAgeMs, read) {
      if (known !== undefined && nowMs() - known.readMs <= maxAgeMs) return known.value
      if (read !== undefined) return readBy(read)
      reading ??= readBy(usualRead).finally(() => (reading = undefined))
      return reading
    },
  }
}
