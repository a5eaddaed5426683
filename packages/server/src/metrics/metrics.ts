/** Collects a scrape: the counts of this process, the newest samples of the cluster, and the streams of the page. */
import type { Store } from '@q/store'
import { createClusterReadings } from './cluster-readings.ts'
import { prometheusText, type MetricsText } from './prometheus.ts'
import type { Readings } from './readings.ts'

export interface Metrics {
  scrape(): Promise<MetricsText>
}

export interface MetricsDeps {
  readonly reads: Pick<Store, 'clusterGauges'>
  /** The counts of this process's replica; undefined: there is no replica. */
  readonly replica?: (() => Readings) | undefined
  /** The number of open live streams; undefined: there is no page. */
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

/** Returns the scrape as a response. */
export async function scrapeResponse(metrics: Metrics): Promise<Response> {
  const { contentType, text } = await metrics.scrape()
  return new Response(text, { headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' } })
}
