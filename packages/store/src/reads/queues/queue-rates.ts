/**
 * Reads how fast each queue is served, from the counts and histograms of the last five complete minutes, which replicas
 * flush into q.run_tally, and how its backlog changed between the samples of the last ten minutes.
 */
import { sql, type RawBuilder } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import { percentile } from '../rates/percentile.ts'
import type { QueueRates } from './queue-view.ts'

const minutes = 5
const growthMinutes = 10
/** Samples closer together than this are not used for growth. */
const growthSMin = 120

interface RateRow {
  readonly queue: string
  readonly started: number
  readonly succeeded: number
  readonly failed: number
  readonly retried: number
  readonly waits: number[] | null
  readonly durations: number[] | null
}

/** `queue`: only this queue. Leaves out queues that executed nothing, unless their backlog was sampled. */
export async function queueRates(db: Db, queue?: string): Promise<Map<string, QueueRates>> {
  const only = sql`(${queue ?? null}::text IS NULL OR queue = ${queue ?? null}::text)`
  const { rows } = await sql<RateRow>`
WITH recent AS MATERIALIZED (
  SELECT * FROM q.run_tally WHERE width_s = 60 AND bucket_at < date_trunc('minute', ${statementTime})
    AND bucket_at >= date_trunc('minute', ${statementTime}) - ${minutes}::int * interval '1 minute' AND ${only}
)
SELECT queue, sum(started)::float8 AS started, sum(succeeded)::float8 AS succeeded, sum(failed)::float8 AS failed,
  sum(retried)::float8 AS retried, ${summed('wait_histogram')} AS waits, ${summed('duration_histogram')} AS durations
FROM recent WHERE queue IS NOT NULL GROUP BY queue`.execute(db)
  const growth = await growthOf(db, queue)
  const perS = (count: number) => count / (minutes * 60)
  const rates = rows.map(({ queue: name, waits, durations, ...counts }): [string, QueueRates] => [
    name,
    {
      startedPerS: perS(counts.started),
      succeededPerS: perS(counts.succeeded),
      failedPerS: perS(counts.failed),
      retriedPerS: perS(counts.retried),
      waitP50Ms: percentile(waits ?? [], 0.5),
      waitP95Ms: percentile(waits ?? [], 0.95),
      durationP50Ms: percentile(durations ?? [], 0.5),
      durationP95Ms: percentile(durations ?? [], 0.95),
      growthPerS: growth.get(name) ?? null,
    },
  ])
  const idle = [...growth].map(([name, growthPerS]): [string, QueueRates] => [name, { ...nothing, growthPerS }])
  return new Map([...idle, ...rates])
}

const nothing: Omit<QueueRates, 'growthPerS'> = {
  startedPerS: 0,
  succeededPerS: 0,
  failedPerS: 0,
  retriedPerS: 0,
  waitP50Ms: null,
  waitP95Ms: null,
  durationP50Ms: null,
  durationP95Ms: null,
}

/** The sum of each element of the histograms of one queue, as an array. */
function summed(column: 'wait_histogram' | 'duration_histogram'): RawBuilder<number[] | null> {
  return sql<number[] | null>`
    (SELECT array_agg(element.runs ORDER BY element.ordinal) FROM (
      SELECT one.ordinal, sum(one.runs)::float8 AS runs FROM recent own
      CROSS JOIN LATERAL unnest(own.${sql.ref(column)}) WITH ORDINALITY AS one(runs, ordinal)
      WHERE own.queue = recent.queue GROUP BY one.ordinal) element)`
}

interface Growth {
  readonly queue: string
  readonly runs: number
  readonly seconds: number
}

/** The change of each backlog in runs a second. Counts that reached their bound are not used. */
export async function growthOf(db: Db, queue?: string): Promise<Map<string, number>> {
  const since = sql`${statementTime} - ${growthMinutes}::int * interval '1 minute'`
  const sample = (order: RawBuilder<unknown>) => sql`
    SELECT s.sampled_at, s.ready + s.waiting_concurrency AS runs FROM q.queue_sample s
    WHERE s.queue = named.queue AND s.sampled_at > ${since} AND NOT s.at_least ORDER BY s.sampled_at ${order} LIMIT 1`
  const { rows } = await sql<Growth>`
SELECT named.queue, newest.runs - oldest.runs AS runs,
  extract(epoch FROM newest.sampled_at - oldest.sampled_at)::float8 AS seconds
FROM (SELECT DISTINCT queue FROM q.lane WHERE ${queue ?? null}::text IS NULL OR queue = ${queue ?? null}::text) named
CROSS JOIN LATERAL (${sample(sql`ASC`)}) oldest CROSS JOIN LATERAL (${sample(sql`DESC`)}) newest`.execute(db)
  const known = rows.filter(({ seconds }) => seconds >= growthSMin)
  return new Map(known.map(({ queue: name, runs, seconds }) => [name, runs / seconds]))
}
