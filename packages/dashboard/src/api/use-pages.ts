/** A list that comes in pages: the first is kept fresh, the next ones are added on request. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useConnectionPart } from '../live/connection.ts'
import type { Items } from './contract.ts'
import type { RequestProblem } from './problem.ts'
import { request } from './request.ts'

export interface PagedList<T> {
  readonly items: readonly T[]
  readonly isLoaded: boolean
  readonly error: RequestProblem | null
  readonly hasNext: boolean
  readonly isFetchingNext: boolean
  readonly fetchNext: () => void
}

export function usePages<T>(path: string, { everyMs = 5_000 }: { readonly everyMs?: number } = {}): PagedList<T> {
  const frozenAt = useConnectionPart('frozenAt')
  const away = useConnectionPart('away')
  const join = path.includes('?') ? '&' : '?'
  const list = useInfiniteQuery<Items<T>, RequestProblem, { pages: Items<T>[] }, string[], string | null>({
    queryKey: ['pages', path],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      request('GET', pageParam === null ? path : `${path}${join}cursor=${encodeURIComponent(pageParam)}`, { signal }),
    getNextPageParam: (page) => page.next ?? null,
    refetchInterval: frozenAt !== null ? false : away === null ? everyMs : 2_000,
  })
  return {
    items: list.data?.pages.flatMap(({ items }) => items) ?? [],
    isLoaded: list.data !== undefined,
    error: list.error,
    hasNext: list.hasNextPage,
    isFetchingNext: list.isFetchingNextPage,
    fetchNext: () => void list.fetchNextPage(),
  }
}
