import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { SeriesMetric, SeriesPoint } from '@q/store'
import { perSecond } from '../../src/reads/rates/per-second.ts'
import { percentile } from '../../src/reads/rates/percentile.ts'
import { fixture } from '../fixture.ts'

const { store, db } = await fixture()

const minuteMs = 60_000
const hourMs = 60 * minuteMs

beforeEach(async () => {
  await sql`DELETE FROM q.run_tally`.execute(db)
  await sql`DELETE FROM q.queue_sample`.execute(db)
})

async function tally(
  agoMs: number,
  counts: { succeeded?: number; queue?: string; task?: string; element?: number } = {},
) {
  const { succeeded = 0, queue = 'default', task = 'a', element = 0 } = counts
  const widthS = agoMs > 24 * hourMs ? 3600 : 60
  const histogram = Array.from({ length: element + 1 }, (_, place) => (place === element ? 100 : 0))
  await sql`INSERT INTO q.run_tally (bucket_at, width_s, started, succeeded, wait_histogram, duration_histogram, queue, task)
    SELECT date_bin(${widthS}::int * interval '1 s', clock_timestamp() - ${agoMs}::float8 * interval '1 ms', 'epoch'), ${widthS}, 1, ${succeeded},
      ${histogram}::int[], ${histogram}::int[], ${queue}, ${task}
    ON CONFLICT (width_s, bucket_at, queue, task) DO UPDATE SET succeeded = q.run_tally.succeeded + excluded.succeeded`.execute(
    db,
  )
}

function last(metric: SeriesMetric, periodMs: number, of: { queue?: string; task?: string; points?: number } = {}) {
  const now = Date.now()
  return store.series({ metric, from: new Date(now - periodMs), to: new Date(now), ...of })
}

const sum = (points: readonly SeriesPoint[], name: 'succeeded' | 'started') =>
  points.reduce((total, point) => total + (point[name] ?? 0), 0)

test('rates are per second; a minute without a tally is zero, and only the last point is partial', async () => {
  await tally(5 * minuteMs, { succeeded: 120 })
  const points = await last('rate', 10 * minuteMs, { points: 10 })
  expect(points.length).toBeGreaterThanOrEqual(10)
  expect(points.filter((point) => point.succeeded! > 0)).toMatchObject([{ succeeded: 2, failed: 0, partial: false }])
  expect(points.at(-1)!.partial).toBe(true)
  expect(points.slice(0, -2).every((point) => !point.partial)).toBe(true)
})

test('a point that began a moment ago has no rate: what is flushed into it was counted for longer', () => {
  const counts = { started: 100, succeeded: 100, failed: 0, retried: 0, cancelled: 0, crashed: 0 }
  expect(perSecond(counts, 1)).toEqual({})
  expect(perSecond(undefined, 14.9)).toEqual({})
  expect(perSecond(counts, 20)).toMatchObject({ succeeded: 5, failed: 0 })
  expect(perSecond(undefined, 60)).toMatchObject({ succeeded: 0 })
})

test('a series of a queue or a task counts only its own runs', async () => {
  await tally(5 * minuteMs, { succeeded: 60, queue: 'x', task: 'a' })
  await tally(5 * minuteMs, { succeeded: 120, queue: 'y', task: 'b' })
  expect(sum(await last('rate', 10 * minuteMs), 'succeeded')).toBe(3)
  expect(sum(await last('rate', 10 * minuteMs, { queue: 'x' }), 'succeeded')).toBe(1)
  expect(sum(await last('rate', 10 * minuteMs, { task: 'b' }), 'succeeded')).toBe(2)
})

test('for any period there is at most one point more than requested, and no count is lost', async () => {
  for (const agoMs of [5 * minuteMs, 30 * hourMs, 40 * hourMs]) await tally(agoMs, { succeeded: 3_600 })
  const points = await last('rate', 48 * hourMs, { points: 12 })
  expect(points.length).toBeLessThanOrEqual(13)
  const stepS = (points[1]!.at.getTime() - points[0]!.at.getTime()) / 1_000
  expect(stepS).toBe(4 * 3_600)
  const complete = points.filter((point) => !point.partial)
  expect(sum(complete, 'succeeded') * stepS).toBeGreaterThanOrEqual(7_200)
  expect((await last('rate', 48 * hourMs, { points: 9_999 })).length).toBeLessThanOrEqual(301)
})

test('a period that began more than a day ago has points of an hour at least', async () => {
  const points = await last('rate', 25 * hourMs, { points: 300 })
  expect(points[1]!.at.getTime() - points[0]!.at.getTime()).toBe(hourMs)
})

test('waits and durations are percentiles of the merged histograms, and null where nothing was recorded', async () => {
  await tally(5 * minuteMs, { task: 'a', element: 10 })
  await tally(5 * minuteMs, { task: 'b', element: 20 })
  const wait = await last('wait', 10 * minuteMs)
  const recorded = wait.filter((point) => point.p50 !== null)
  expect(recorded).toMatchObject([{ p50: 26.9, p95: 861, p99: 861 }])
  expect((await last('duration', 10 * minuteMs, { task: 'a' })).find((point) => point.p95 !== null)).toMatchObject({
    p95: 26.9,
  })
  expect(wait.length - recorded.length).toBeGreaterThan(5)
})

test('ages are the worst of all queues, lengths are their sum', async () => {
  for (const queue of ['x', 'y']) await store.internLane({ queue, task: 'a' })
  const sample = (queue: string, agoMs: number, ready: number, oldestMs: number | null) =>
    sql`
    INSERT INTO q.queue_sample (sampled_at, oldest_ms, ready, claimed, running, waiting_time, waiting_concurrency, queue)
    SELECT date_trunc('minute', clock_timestamp()) - ${agoMs}::float8 * interval '1 ms', ${oldestMs}, ${ready}, 0, 0, 0, 0, ${queue}`.execute(
      db,
    )
  await sample('x', 3 * minuteMs, 10, 5_000)
  await sample('x', 3 * minuteMs - 15_000, 20, 1_000)
  await sample('y', 3 * minuteMs, 7, null)
  const values = async (metric: SeriesMetric, queue?: string) =>
    (await last(metric, 10 * minuteMs, { points: 10, ...(queue !== undefined && { queue }) })).flatMap(
      (point) => point.value ?? [],
    )
  expect(await values('ready')).toEqual([27])
  expect(await values('ready', 'y')).toEqual([7])
  expect(await values('oldest')).toEqual([5_000])
  expect(await values('oldest', 'y')).toEqual([])
})

test('a percentile is off by at most a fifth, and the last bucket has no midpoint', () => {
  for (const ms of [1, 3, 17, 250, 9_999, 3_600_000]) {
    const element = Math.ceil(2 * Math.log2(ms))
    const histogram = Array.from({ length: element + 1 }, (_, place) => (place === element ? 1 : 0))
    expect(Math.abs(percentile(histogram, 0.5)! / ms - 1)).toBeLessThan(0.2)
  }
  const open = Array.from({ length: 60 }, (_, place) => (place === 59 ? 1 : 0))
  expect(percentile(open, 0.5)).toBe(2 ** 29)
  expect(percentile([], 0.5)).toBeNull()
  expect(percentile([0, 0], 0.5)).toBeNull()
})
