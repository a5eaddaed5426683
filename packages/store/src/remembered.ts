/** Something that is read from the database, and remembered until it is too old for whoever asks. */
export interface Remembered<T> {
  /** Read again if it is older; `read`: in the caller's own way, without waiting for those who read in the usual one. */
  get(maxAgeMs: number, read?: () => Promise<T>): Promise<T>
}

/** Who reads at the same time reads once. A failure is not remembered. `nowMs`: any clock that does not jump. */
export function createRemembered<T>(usualRead: () => Promise<T>, nowMs: () => number): Remembered<T> {
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
