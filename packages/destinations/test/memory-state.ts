/** A `SenderState` in memory, for tests of senders without a database. */
import type { SenderState } from '../src/index.ts'

export function memoryState(): SenderState {
  const values = new Map<string, string>()
  return {
    get: (key) => Promise.resolve(values.get(key)),
    put(key, value) {
      values.set(key, value)
      return Promise.resolve()
    },
    remove(key) {
      values.delete(key)
      return Promise.resolve()
    },
  }
}
