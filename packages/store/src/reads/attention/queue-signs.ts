/**
 * The facts about each queue that attention needs. Reads less than a list of queues: runs are counted only in queues that are paused
 * or grow, waiting runs only in paused ones, and usual waits only where a run has been ready for long.
 */
import { sql } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import { bounded, none, sumOf, type Bounded } from '../bounded.ts'
import { laneCounts } from '../queues/lane-counts.ts'
import { open, pausesOf } from '../queues/list-queues.ts'
import { growthOf } from '../queues/queue-rates.ts'
import type { QueueView } from '../queues/queue-view.ts'
import { waitingCounts } from '../queues/waiting-counts.ts'
import { percentile } from '../rates/percentile.ts'

export interface QueueSigns extends Pick<
  QueueView,
  'queue' | 'oldestReadyMs' | 'paused' | 'pausedBy' | 'pausedAt' | 'pauseReason'
> {
  /** AVAILABLE runs; none of a queue that neither is paused nor grows. */
  readonly ready: Bounded
  /** PENDING runs at a concurrency key; none of a queue that is not paused. */
  readonly keyed: Bounded
  /** Whether a task with an AVAILABLE run is served by no live node. */
  readonly unserved: boolean
  /** Null: not enough samples. */
  readonly growthPerS: number | null
  /** The 95th percentile of the waits of the last hour; null: none of its runs was started, or no run waits for long. */
  readonly usualWaitMs: number | null
}

/** A shorter wait needs no person. */
export const waitMsMin = 60_000
/** Runs that a queue must have grown by in ten minutes. */
export const growthMin = 100
const growthS = 600

export function grows(perS: number | null | undefined): boolean {
  return (perS ?? 0) * growthS >= growthMin
}

export async function queueSigns(db: Db): Promise<QueueSigns[]> {
  const lanes = Map.groupBy(await laneCounts(db, { readyMax: 1 }), (lane) => lane.queue)
  const pauses = await pausesOf(db)
  const growth = await growthOf(db)
  const oldest = (queue: string): number | null =>
    (lanes.get(queue) ?? []).reduce<number | null>((most, { oldestMs }) => maxOf(most, oldestMs), null)
  const queues = [...new Set([...lanes.keys(), ...pauses.keys()])].toSorted()
  const paused = queues.filter((queue) => pauses.get(queue)?.paused === true)
  const growing = queues.filter((queue) => grows(growth.get(queue)))
  const ready = await readyCounts(db, [...paused, ...growing])
  const waiting = paused.length === 0 ? undefined : await waitingCounts(db)
  const usual = await usualWaits(
    db,
    queues.filter((queue) => (oldest(queue) ?? 0) > waitMsMin),
  )
  return queues.map((queue) => ({
    queue,
    ...(pauses.get(queue) ?? open),
    oldestReadyMs: oldest(queue),
    ready: ready.get(queue) ?? none,
    keyed: paused.includes(queue) ? (waiting?.of(queue).concurrency ?? none) : none,
    unserved: (lanes.get(queue) ?? []).some((lane) => lane.ready > 0 && lane.nodes === 0),
    growthPerS: growth.get(queue) ?? null,
    usualWaitMs: usual.get(queue) ?? null,
  }))
}

function maxOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}

async function readyCounts(db: Db, queues: readonly string[]): Promise<Map<string, Bounded>> {
  if (queues.length === 0) return new Map()
  const lanes = Map.groupBy(await laneCounts(db, { queues, oldest: false }), (lane) => lane.queue)
  return new Map([...lanes].map(([queue, own]) => [queue, sumOf(own.map((lane) => bounded(lane.ready, lane.bound)))]))
}

async function usualWaits(db: Db, queues: readonly string[]): Promise<Map<string, number>> {
  if (queues.length === 0) return new Map()
  const { rows } = await sql<{ queue: string; histogram: number[] }>`
SELECT queue, array_agg(runs ORDER BY place) AS histogram FROM (
  SELECT t.queue, one.place, sum(one.runs)::float8 AS runs FROM q.run_tally t
  CROSS JOIN LATERAL unnest(t.wait_histogram) WITH ORDINALITY AS one(runs, place)
  WHERE t.width_s = 60 AND t.bucket_at > ${statementTime} - interval '1 hour' AND t.queue = ANY(${queues}::text[])
  GROUP BY 1, 2) element
GROUP BY queue`.execute(db)
  return new Map(rows.flatMap(({ queue, histogram }) => [[queue, percentile(histogram, 0.95) ?? 0]]))
}
