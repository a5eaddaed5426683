/**
 * A separate port for metrics and the three probes, for a scraper or an orchestrator that uses any address of this
 * machine: the port needs no token, accepts any Host, and serves no data of runs. Every other path gets 404.
 */
import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { areaOf } from '../http/checks.ts'
import type { Probes } from '../http/probes.ts'
import { securityHeaders } from '../http/security-headers.ts'
import { listenHttp, type Listening } from '../listen.ts'
import { scrapeResponse, type Metrics } from './metrics.ts'

export interface MetricsAddress {
  readonly address: string
  readonly port: number
}

export interface MetricsPortDeps {
  readonly metrics: Metrics
  readonly probes: Probes
  readonly onFault: (error: unknown, what: string) => void
}

export function openMetricsPort(at: MetricsAddress, deps: MetricsPortDeps): Promise<Listening> {
  return listenHttp(metricsListener(deps), { ...at, variables: 'Q_METRICS_ADDRESS' })
}

function metricsListener({ metrics, probes, onFault }: MetricsPortDeps): RequestListener {
  const answer = getRequestListener(
    async (request) => {
      const response = await route(request).catch((error: unknown) => {
        onFault(error, 'GET /metrics')
        return plain(500, 'the metrics could not be written')
      })
      for (const [name, value] of Object.entries(securityHeaders(false))) response.headers.set(name, value)
      return response
    },
    {
      overrideGlobalObjects: false,
      hostname: 'localhost',
      errorHandler: () => plain(400, 'the request cannot be read'),
    },
  )

  async function route(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'only GET and HEAD are possible')
    const { pathname } = new URL(request.url)
    if (areaOf(pathname) === 'probe') return probes.answer(pathname)
    return pathname === '/metrics'
      ? scrapeResponse(metrics)
      : plain(404, 'here are /metrics, /healthz, /readyz, /startupz')
  }

  return (incoming, outgoing) => void answer(incoming, outgoing)
}

function plain(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}
