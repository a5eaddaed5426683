/** Limits the rate of events per key: a burst, refilled evenly. A key is dropped when its allowance is full again. */
export interface Rate {
  /** Takes one and returns 0, or returns the seconds to wait. */
  take(key: string): number
  /** Whether the next call would be refused now. Does not count as a call. */
  isEmpty(key: string): boolean
}

const keysMax = 10_000

export function createRate(
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
  now: () => number = () => performance.now(),
): Rate {
  const levels = new Map<string, { level: number; at: number }>()
  function levelOf(key: string): number {
    const known = levels.get(key)
    if (known === undefined) return burst
    return Math.min(burst, known.level + ((now() - known.at) / 1_000) * perSecond)
  }
  return {
    take(key) {
      const level = levelOf(key)
      if (level < 1) return Math.max(1, Math.ceil((1 - level) / perSecond))
      levels.delete(key)
      if (levels.size >= keysMax) levels.delete(levels.keys().next().value ?? '')
      levels.set(key, { level: level - 1, at: now() })
      return 0
    },
    isEmpty: (key) => levelOf(key) < 1,
  }
}
