/**
 * The list of runs. Rows keep their place while a person reads: what is on screen is refreshed by id, and new runs are counted and
 * shown on request.
 */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { RequestProblem } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import type { RunSummaryPage, RunSummary } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'

export interface RunList {
  readonly runs: readonly RunSummary[]
  readonly isLoaded: boolean
  readonly error: RequestProblem | null
  readonly looked: number
  readonly lookedBackTo: string | null
  readonly exhausted: boolean
  readonly hasNext: boolean
  /** Whether the last page is full, so that the next one is only a matter of room. */
  readonly isLastFull: boolean
  readonly isFetchingNext: boolean
  readonly fetchNext: () => void
  /** Runs that would be listed now and are not on screen. */
  readonly newRuns: number
  readonly showNew: () => void
}

export const perPage = 50
const refreshedMax = 100

export function useRuns(query: URLSearchParams): RunList {
  const base = `/runs?${query}${query.size === 0 ? '' : '&'}limit=${perPage}`
  const list = useInfiniteQuery<RunSummaryPage, RequestProblem, { pages: RunSummaryPage[] }, string[], string | null>({
    queryKey: ['runs', base],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      request('GET', pageParam === null ? base : `${base}&cursor=${encodeURIComponent(pageParam)}`, { signal }),
    getNextPageParam: (page) => page.next ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
  })
  const pages = list.data?.pages
  const shown = useMemo(() => pages?.flatMap((page) => page.runs) ?? [], [pages])
  const ids = shown.slice(0, refreshedMax).map(({ id }) => id)
  const refreshed = useData<RunSummaryPage>(`/runs?ids=${ids.join(',')}&limit=${refreshedMax}`, {
    everyMs: 2_000,
    enabled: ids.length > 0,
    keep: true,
  })
  const first = useData<RunSummaryPage>(base, { everyMs: 5_000 })
  const runs = useMemo(() => merged(shown, refreshed.data?.runs ?? []), [shown, refreshed.data])
  const known = new Set(shown.map(({ id }) => id))
  const last = pages?.at(-1)
  return {
    runs,
    isLoaded: pages !== undefined,
    error: list.error,
    looked: pages?.reduce((sum, page) => sum + page.looked, 0) ?? 0,
    lookedBackTo: last?.lookedBackTo ?? null,
    exhausted: last?.exhausted ?? true,
    hasNext: last?.next != null,
    isLastFull: (last?.runs.length ?? 0) >= perPage,
    isFetchingNext: list.isFetchingNextPage,
    fetchNext: () => void list.fetchNextPage(),
    newRuns: pages === undefined ? 0 : (first.data?.runs.filter(({ id }) => !known.has(id)).length ?? 0),
    showNew: () => void list.refetch(),
  }
}

function merged(shown: readonly RunSummary[], fresh: readonly RunSummary[]): RunSummary[] {
  const byId = new Map(fresh.map((run) => [run.id, run]))
  return shown.map((run) => byId.get(run.id) ?? run)
}
