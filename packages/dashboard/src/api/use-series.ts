/** A metric over the last minutes or hours. The window moves, so its ends are computed with every request. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useConnectionPart } from '../live/connection.ts'
import { serverNow } from '../live/server-clock.ts'
import type { Items, SeriesMetric, SeriesPoint } from './contract.ts'
import type { RequestProblem } from './problem.ts'
import { request } from './request.ts'

interface Window {
  readonly lastMs: number
  readonly points: number
  readonly queue?: string
  readonly task?: string
}

export function useSeries(metric: SeriesMetric, { lastMs, points, queue, task }: Window): readonly SeriesPoint[] {
  const frozenAt = useConnectionPart('frozenAt')
  const of = { ...(queue === undefined ? {} : { queue }), ...(task === undefined ? {} : { task }) }
  const { data } = useQuery<Items<SeriesPoint>, RequestProblem>({
    queryKey: ['series', metric, lastMs, points, of],
    queryFn: ({ signal }) => {
      const to = serverNow()
      const [from, until] = [to - lastMs, to].map((at) => new Date(at).toISOString()) as [string, string]
      const query = new URLSearchParams({ metric, from, to: until, points: String(points), ...of })
      return request('GET', `/series?${query}`, { signal })
    },
    refetchInterval: frozenAt === null ? Math.max(10_000, lastMs / points / 2) : false,
    placeholderData: keepPreviousData,
  })
  return data?.items ?? []
}
