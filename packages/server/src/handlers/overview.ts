import type { overviewRoutes } from '../api/overview.ts'
import type { seriesRoutes } from '../api/series.ts'
import type { laneRoutes } from '../api/lanes.ts'
import { wrongParameters } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'

const hourMs = 3_600_000
const windowMsMax = 31 * 24 * hourMs

export function overviewHandlers({
  reads,
}: HandlerDeps): Handlers<keyof typeof overviewRoutes | keyof typeof seriesRoutes | keyof typeof laneRoutes> {
  return {
    'GET /api/overview': () => reads.overview(),
    'GET /api/attention': () => reads.attention(),
    'GET /api/series': async ({ query: { from, to, points = 60, ...rest } }) => ({
      items: await reads.series({ ...given(rest), ...windowOf({ from, to }, hourMs), points }),
    }),
    'GET /api/lanes': async ({ query }) => {
      const window = windowOf(query, hourMs / 4)
      return { ...window, items: await reads.heartbeatLanes(window) }
    },
  }
}

function windowOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  usualMs: number,
): { from: Date; to: Date } {
  const end = to === undefined ? new Date() : new Date(to)
  const begin = from === undefined ? new Date(end.getTime() - usualMs) : new Date(from)
  const ms = end.getTime() - begin.getTime()
  if (ms <= 0 || ms > windowMsMax)
    throw wrongParameters([{ at: 'from', problem: 'must be earlier than `to`, by at most 31 days' }])
  return { from: begin, to: end }
}
