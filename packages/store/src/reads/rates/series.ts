/**
 * A figure over time. Rates, waits and durations come from the tallies that replicas flush, ages and lengths from the
 * samples of queues; it reads no runs. Minutes are kept for a day and hours for longer, so a period that began earlier
 * has points of at least an hour.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { percentile } from './percentile.ts'
import { type Counts, countedOutcomes, flushMs, perSecond } from './per-second.ts'

export type SeriesMetric = 'rate' | 'wait' | 'duration' | 'oldest' | 'ready'

export interface SeriesRequest {
  readonly metric: SeriesMetric
  readonly queue?: string
  /** Not for `oldest` and `ready`, which exist only per queue. */
  readonly task?: string
  readonly from: Date
  readonly to: Date
  /** At most 300; 60 unless set. */
  readonly points?: number
}

export interface SeriesPoint {
  /** Start of the point. */
  readonly at: Date
  /** Whether the point has not ended yet, or some of its counts may not have been flushed. */
  readonly partial: boolean
  /**
   * For `rate`: runs per second. A point that began so recently that its counts may not have been flushed has none.
   */
  readonly started?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly retried?: number
  readonly cancelled?: number
  readonly crashed?: number
  /** For `wait` and `duration`, in ms; null: nothing was recorded. */
  readonly p50?: number | null
  readonly p95?: number | null
  readonly p99?: number | null
  /** For `oldest` in ms, for `ready` in runs; null: there is no sample, or nothing waited. */
  readonly value?: number | null
}

const pointsMax = 300
const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

export async function series(db: Db, request: SeriesRequest): Promise<SeriesPoint[]> {
  const { rows } = await sql<{
    ms: number
  }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
  const nowMs = rows[0]!.ms
  const bins = binsOf(request, nowMs)
  const valuesOf = await readValues(db, request, bins)
  return bins.starts.map((startMs) => {
    const endMs = startMs + bins.stepMs
    const seconds = Math.max(1, (Math.min(endMs, nowMs) - startMs) / 1_000)
    return { at: new Date(startMs), partial: endMs + flushMs > nowMs, ...valuesOf(startMs, seconds) }
  })
}

interface Bins {
  readonly stepMs: number
  readonly starts: readonly number[]
}

/** Aligned, so that a repeated request returns the same points. */
function binsOf({ from, to, points = 60 }: SeriesRequest, nowMs: number): Bins {
  const endMs = Math.min(to.getTime(), nowMs)
  const most = Math.min(Math.max(1, Math.trunc(points)), pointsMax)
  const unitMs = from.getTime() < nowMs - dayMs ? hourMs : minuteMs
  const stepMs = Math.max(1, Math.ceil((endMs - from.getTime()) / most / unitMs)) * unitMs
  const firstMs = Math.floor(from.getTime() / stepMs) * stepMs
  const count = Math.max(0, Math.ceil((endMs - firstMs) / stepMs))
  return { stepMs, starts: Array.from({ length: Math.min(count, most + 1) }, (_, place) => firstMs + place * stepMs) }
}

type ValuesAt = (startMs: number, seconds: number) => Partial<SeriesPoint>

function readValues(db: Db, request: SeriesRequest, bins: Bins): Promise<ValuesAt> {
  switch (request.metric) {
    case 'rate':
      return rates(db, request, bins)
    case 'wait':
      return percentiles(db, request, bins, 'wait_histogram')
    case 'duration':
      return percentiles(db, request, bins, 'duration_histogram')
    case 'oldest':
      return gauges(db, request, bins, sql`max(s.oldest_ms)`, sql`max(queues.value)`)
    case 'ready':
      return gauges(db, request, bins, sql`max(s.ready)`, sql`sum(queues.value)`)
  }
}

type CountedRow = { readonly startMs: number } & Counts

async function rates(db: Db, request: SeriesRequest, bins: Bins): Promise<ValuesAt> {
  const sums = countedOutcomes.map((column) => sql`sum(t.${sql.ref(column)})::float8 AS ${sql.ref(column)}`)
  const { rows } = await sql<CountedRow>`
    SELECT ${binMs(sql`t.bucket_at`, bins)} AS "startMs", ${sql.join(sums)} FROM q.run_tally t
    WHERE ${tallied(request, bins)} GROUP BY 1`.execute(db)
  const byStart = new Map(rows.map((row) => [row.startMs, row]))
  return (startMs, seconds) => perSecond(byStart.get(startMs), seconds)
}

async function percentiles(
  db: Db,
  request: SeriesRequest,
  bins: Bins,
  column: 'wait_histogram' | 'duration_histogram',
): Promise<ValuesAt> {
  const { rows } = await sql<{ startMs: number; histogram: number[] }>`
    SELECT "startMs", array_agg(runs ORDER BY place) AS histogram FROM (
      SELECT ${binMs(sql`t.bucket_at`, bins)} AS "startMs", one.place, sum(one.runs)::float8 AS runs
      FROM q.run_tally t CROSS JOIN LATERAL unnest(t.${sql.ref(column)}) WITH ORDINALITY AS one(runs, place)
      WHERE ${tallied(request, bins)} GROUP BY 1, 2) element GROUP BY 1`.execute(db)
  const byStart = new Map(rows.map((row) => [row.startMs, row.histogram]))
  return (startMs) => {
    const histogram = byStart.get(startMs) ?? []
    return { p50: percentile(histogram, 0.5), p95: percentile(histogram, 0.95), p99: percentile(histogram, 0.99) }
  }
}

/** `ofQueue` combines the samples of one queue in a bin; `ofAll` combines the values of all queues. */
async function gauges(
  db: Db,
  { queue }: SeriesRequest,
  bins: Bins,
  ofQueue: RawBuilder<unknown>,
  ofAll: RawBuilder<unknown>,
): Promise<ValuesAt> {
  const { rows } = await sql<{ startMs: number; value: number | null }>`
    SELECT queues."startMs", ${ofAll}::float8 AS value
    FROM (SELECT DISTINCT queue FROM q.lane WHERE ${queue ?? null}::text IS NULL OR queue = ${queue ?? null}) named
    CROSS JOIN LATERAL (SELECT ${binMs(sql`s.sampled_at`, bins)} AS "startMs", ${ofQueue} AS value FROM q.queue_sample s
      WHERE s.queue = named.queue AND s.sampled_at >= ${timeAt(bins.starts[0])} AND s.sampled_at < ${endOf(bins)} GROUP BY 1) queues
    GROUP BY 1`.execute(db)
  const byStart = new Map(rows.map((row) => [row.startMs, row.value]))
  return (startMs) => ({ value: byStart.get(startMs) ?? null })
}

function tallied({ queue, task }: SeriesRequest, bins: Bins): RawBuilder<boolean> {
  return sql<boolean>`t.width_s = ANY('{60,3600}') AND t.bucket_at >= ${timeAt(bins.starts[0])} AND t.bucket_at < ${endOf(bins)}
    AND (${queue ?? null}::text IS NULL OR t.queue = ${queue ?? null}) AND (${task ?? null}::text IS NULL OR t.task = ${task ?? null})`
}

/** Uses `date_bin`: a join with a list of bins would compare every row with every bin. */
function binMs(time: RawBuilder<unknown>, { stepMs }: Bins): RawBuilder<number> {
  const step = sql`${stepMs / 1_000}::float8 * interval '1 s'`
  return sql<number>`(extract(epoch FROM date_bin(${step}, ${time}, timestamptz 'epoch')) * 1000)::float8`
}

function endOf({ starts, stepMs }: Bins): RawBuilder<unknown> {
  return timeAt((starts.at(-1) ?? 0) + stepMs)
}

function timeAt(ms: number | undefined): RawBuilder<unknown> {
  return sql`to_timestamp(${(ms ?? 0) / 1_000}::float8)`
}
