/** Hides the secrets that an operation or the audit quotes from the filter of a request: `payload: 'password~x'`. */
import type { Secrets } from './secrets.ts'

interface Filtered {
  readonly filter: { readonly payload?: string }
}

export function hidingConditions({ inValue, inCondition }: Pick<Secrets, 'inValue' | 'inCondition'>) {
  const inFilter = <F extends { readonly payload?: unknown }>(filter: F): F =>
    typeof filter.payload === 'string' ? { ...filter, payload: inCondition(filter.payload) } : filter
  return {
    inOperation: <O extends Filtered>(one: O): O => ({ ...one, filter: inFilter(one.filter) }),
    inDetail(detail: unknown): unknown {
      const shown: unknown = inValue(detail)
      if (typeof shown !== 'object' || shown === null || !('filter' in shown)) return shown
      const { filter } = shown
      return typeof filter === 'object' && filter !== null ? { ...shown, filter: inFilter(filter) } : shown
    },
  }
}
