/** A `SenderState` in memory, for tests of senders without a database. */
import type { SenderState, SharedState } from '../src/index.ts'

export function memoryState(shared: SharedState = sharedState()): SenderState {
  const values = new Map<string, string>()
  return {
    shared,
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

export function sharedState(): SharedState {
  const values = new Map<string, string>()
  return {
    get: (key) => Promise.resolve(values.get(key)),
    replace(key, { from, to }) {
      const isSame = values.get(key) === from
      if (isSame) values.set(key, to)
      return Promise.resolve(isSame)
    },
  }
}
