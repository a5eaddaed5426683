/**
 * Writes readings as Prometheus text. No other file uses the Prometheus client, which the first scrape loads: it takes
 * 80 ms and 18 MB.
 */
import type { Metric as ClientMetric, MetricValueWithName } from '@prometheus-io/client'
import { bucketEndMs } from '@q/store'
import { metricTable, type Metric } from './metric-table.ts'
import type { Reading, Readings, TimesReading } from './readings.ts'

export interface MetricsText {
  readonly contentType: string
  readonly text: string
}

export async function prometheusText(readings: Readings): Promise<MetricsText> {
  const { Registry } = await import('@prometheus-io/client')
  const registry = new Registry()
  for (const [name, metric] of Object.entries(metricTable)) {
    const own = readings[name]
    if (own !== undefined) registry.registerMetric(asMetric(name, metric, own))
  }
  return { contentType: registry.contentType, text: await registry.metrics() }
}

type Value = Pick<MetricValueWithName<string>, 'labels' | 'value'> & { metricName?: string }

/** Histograms that were already counted: the classes of the client would count themselves. */
function asMetric(name: string, { type, help }: Metric, readings: readonly Reading[]): ClientMetric {
  const values = readings.flatMap((reading) => valuesOf(name, reading))
  const get = () => Promise.resolve({ name, help, type, values, aggregator: 'sum' })
  return { name, get } as unknown as ClientMetric
}

function valuesOf(name: string, reading: Reading): Value[] {
  const { labels = {} } = reading
  return 'counts' in reading ? histogramValues(name, labels, reading) : [{ labels, value: reading.value }]
}

/** Every third bucket of the store: 20 bounds from 1 ms to 4.4 days, each 2.8 times the previous one. */
const bounds = Array.from({ length: 20 }, (_, index) => ({
  bucket: index * 3,
  le: Number((bucketEndMs(index * 3) / 1_000).toPrecision(4)),
}))

function histogramValues(name: string, labels: object, { counts, sumMs }: TimesReading): Value[] {
  const upTo = (bucket: number) => counts.slice(0, bucket + 1).reduce((sum, count) => sum + count, 0)
  const count = upTo(counts.length)
  const buckets = bounds.map(({ bucket, le }) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le },
    value: upTo(bucket),
  }))
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels: { ...labels }, value: sumMs / 1_000 },
    { metricName: `${name}_count`, labels: { ...labels }, value: count },
  ]
}
