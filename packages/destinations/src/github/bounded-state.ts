/**
 * A map in the sender's state with a limited number of keys. When it is full, it drops the keys that were written
 * longest ago, so comments and issues that still change stay in it.
 */
import type { SenderState } from '../sender.ts'

const keysMax = 1000

export function boundedState(state: SenderState): SenderState {
  const listKey = 'recent'
  return {
    ...state,
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
