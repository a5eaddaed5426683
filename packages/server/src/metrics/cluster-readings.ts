/** The metrics of the whole cluster, read at most every 10 seconds, however often they are scraped. */
import { createCachedRead, type ClusterGauges, type DeliveryGauges, type QueueGauges, type Store } from '@q/store'
import type { Readings } from './readings.ts'

const cachedMs = 10_000

export interface ClusterReadingOptions {
  readonly nowMs?: () => number
  /** The longest time that a scrape waits for the database. */
  readonly waitMsMax?: number
}

/** Returns only `q_cluster_readable 0` if the database does not answer. Never rejects. */
export function createClusterReadings(
  store: Pick<Store, 'clusterGauges'>,
  { nowMs = () => performance.now(), waitMsMax = 3_000 }: ClusterReadingOptions = {},
): () => Promise<Readings> {
  const gauges = createCachedRead(() => store.clusterGauges(), nowMs)
  return async () => {
    const read = await within(waitMsMax, gauges.get(cachedMs)).catch(() => undefined)
    return read === undefined ? { q_cluster_readable: [{ value: 0 }] } : readingsOf(read)
  }
}

function readingsOf(gauges: ClusterGauges): Readings {
  const { queues, sampleAgeMs, nodes, lanesUnserved, runsToReview, destinations } = gauges
  const byQueue = (value: (queue: QueueGauges) => number) =>
    queues.map((queue) => ({ labels: { queue: queue.queue }, value: value(queue) }))
  const byDestination = (value: (reports: DeliveryGauges) => number) =>
    destinations.map((reports) => ({ labels: { destination: reports.destination }, value: value(reports) }))
  return {
    q_cluster_readable: [{ value: 1 }],
    q_queue_ready: byQueue(({ ready }) => ready),
    q_queue_claimed: byQueue(({ claimed }) => claimed),
    q_queue_running: byQueue(({ running }) => running),
    q_queue_waiting: queues.flatMap(({ queue, waitingTime, waitingConcurrency }) => [
      { labels: { queue, gate: 'time' }, value: waitingTime },
      { labels: { queue, gate: 'concurrency' }, value: waitingConcurrency },
    ]),
    q_queue_oldest_seconds: byQueue(({ oldestMs }) => (oldestMs ?? 0) / 1_000),
    q_queue_paused: byQueue(({ paused }) => Number(paused)),
    q_sample_age_seconds: sampleAgeMs === null ? [] : [{ value: sampleAgeMs / 1_000 }],
    q_nodes: Object.entries(nodes).map(([state, value]) => ({ labels: { state }, value })),
    q_lanes_unserved: [{ value: lanesUnserved }],
    q_runs_to_review: [{ value: runsToReview }],
    q_deliveries_waiting: byDestination(({ waiting }) => waiting),
    q_deliveries_oldest_seconds: byDestination(({ oldestMs }) => (oldestMs ?? 0) / 1_000),
    q_deliveries_given_up: byDestination(({ givenUp }) => givenUp),
    q_destination_paused: byDestination(({ paused }) => Number(paused)),
  }
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('The database did not answer in time.')), ms)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
