/**
 * The gauges of the whole cluster, for metrics. Queues come from their newest samples, which one replica takes for all
 * (tally/sample-queues.ts), so every reader sees the same numbers without counting. Other reads are bounded. Takes no
 * locks.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { nodeState } from '../../replicas/alive.ts'
import { agoMs, countMax, countOf } from '../bounded.ts'
import { deliveryGauges, type DeliveryGauges } from '../deliveries/delivery-gauges.ts'
import { unservedLanes } from '../queues/unserved-lanes.ts'

export interface ClusterGauges {
  readonly queues: readonly QueueGauges[]
  /** Age of the newest sample of the queues; null: there is none. */
  readonly sampleAgeMs: number | null
  readonly nodes: { readonly alive: number; readonly draining: number; readonly stale: number }
  /** Lanes with a waiting run that no live node serves; at most 100. */
  readonly lanesUnserved: number
  /** Runs recovered as FAILED that no person has reviewed; at most 10 000. */
  readonly runsToReview: number
  readonly destinations: readonly DeliveryGauges[]
}

/** A sample of a queue. */
export interface QueueGauges {
  readonly queue: string
  readonly ready: number
  readonly claimed: number
  readonly running: number
  readonly waitingTime: number
  readonly waitingConcurrency: number
  /** Age of the oldest AVAILABLE run; null: there is none. */
  readonly oldestMs: number | null
  readonly paused: boolean
}

type FleetRow = ClusterGauges['nodes'] & Pick<ClusterGauges, 'runsToReview'>

/** The most queues, in the order of their names. */
const queuesMax = 1_000

export async function clusterGauges(db: Db): Promise<ClusterGauges> {
  const samples = await newestSamples(db)
  const { runsToReview, ...nodes } = await fleetFigures(db)
  const lanes = await unservedLanes(db)
  return {
    queues: samples.map(({ ageMs: _, ...gauges }) => gauges),
    sampleAgeMs: samples.length === 0 ? null : Math.min(...samples.map(({ ageMs }) => ageMs)),
    nodes,
    lanesUnserved: lanes.length,
    runsToReview,
    destinations: await deliveryGauges(db),
  }
}

async function newestSamples(db: Db): Promise<(QueueGauges & { readonly ageMs: number })[]> {
  const { rows } = await sql<QueueGauges & { readonly ageMs: number }>`
SELECT s.queue, s.ready, s.claimed, s.running, s.waiting_time AS "waitingTime", s.waiting_concurrency AS "waitingConcurrency",
  s.oldest_ms::float8 AS "oldestMs", s.paused, ${agoMs(sql.ref('s.sampled_at'))} AS "ageMs"
FROM (SELECT DISTINCT queue FROM q.lane ORDER BY queue LIMIT ${queuesMax}::int) known
CROSS JOIN LATERAL (
  SELECT * FROM q.queue_sample WHERE queue = known.queue ORDER BY sampled_at DESC LIMIT 1) s
ORDER BY s.queue`.execute(db)
  return rows
}

async function fleetFigures(db: Db): Promise<FleetRow> {
  const unreviewed = sql`SELECT FROM q.recovery v WHERE v.became = 'FAILED' AND v.reviewed_at IS NULL ORDER BY v.id LIMIT ${countMax}::int`
  const { rows } = await sql<FleetRow>`
SELECT (count(*) FILTER (WHERE state = 'alive'))::int AS alive, (count(*) FILTER (WHERE state = 'draining'))::int AS draining,
  (count(*) FILTER (WHERE state = 'stale'))::int AS stale, ${countOf(unreviewed)} AS "runsToReview"
FROM (SELECT ${nodeState} AS state FROM q.replica n LEFT JOIN q.replica_heartbeat h ON h.replica_id = n.id
  WHERE n.stopped_at IS NULL) nodes`.execute(db)
  return rows[0] ?? { alive: 0, draining: 0, stale: 0, runsToReview: 0 }
}
