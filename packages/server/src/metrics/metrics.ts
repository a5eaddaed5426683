/** A scrape: what this process counted, what the newest sample says about the cluster, and the streams of the page. */
import type { Store } from '@q/store'
import { createClusterReadings } from './cluster-readings.ts'
import { prometheusText, type MetricsText } from './prometheus.ts'
import type { Readings } from './readings.ts'

export interface Metrics {
  scrape(): Promise<MetricsText>
}

export interface MetricsDeps {
  readonly reads: Pick<Store, 'clusterFigures'>
  /** What the replica of this process counted; undefined: there is none. */
  readonly replica?: (() => Readings) | undefined
  /** Open live streams; undefined: there is no page. */
  readonly streams?: () => number
  readonly onFault: (error: unknown, what: string) => void
}

export function createMetrics({ reads, replica, streams, onFault }: MetricsDeps): Metrics {
  const cluster = createClusterReadings(reads)
  function own(): Readings {
    try {
      return replica?.() ?? {}
    } catch (error) {
      onFault(error, 'metrics')
      return {}
    }
  }
  return {
    async scrape() {
      const page: Readings = streams === undefined ? {} : { q_page_streams: [{ value: streams() }] }
      return prometheusText({ ...own(), ...(await cluster()), ...page })
    },
  }
}

/** As the answer of a request. */
export async function scrapeResponse(metrics: Metrics): Promise<Response> {
  const { contentType, text } = await metrics.scrape()
  return new Response(text, { headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' } })
}
