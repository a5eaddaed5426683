/**
 * A part of the sender's state with a limited number of keys: the keys that were put longest ago are removed. Comments and
 * issues that still change stay known.
 */
import type { SenderState } from '../sender.ts'

const keysMax = 1000

export function boundedState(state: SenderState): SenderState {
  const listKey = 'recent'
  return {
    get: (key) => state.get(key),
    remove: (key) => state.remove(key),
    async put(key, value) {
      await state.put(key, value)
      const recent = JSON.parse((await state.get(listKey)) ?? '[]') as readonly string[]
      if (recent.at(-1) === key) return
      const keys = [...recent.filter((other) => other !== key), key]
      for (const forgotten of keys.slice(0, -keysMax)) await state.remove(forgotten)
      await state.put(listKey, JSON.stringify(keys.slice(-keysMax)))
    },
  }
}
