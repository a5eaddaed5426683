/** The span of a run, as a collector receives it: one, whichever replicas execute the attempts, and however the run ends. */
import { queue } from '@q/client'
import { readConfig, startRunner } from '@q/runner'
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startCollector } from './collector.ts'
import { serverScene } from './scene.ts'
import type * as tasks from './tasks/traced.ts'

const [scene, collector] = await Promise.all([serverScene(), startCollector()])
const q = queue<typeof tasks>(scene.database.url)
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  await q.close()
  await Promise.all([scene.close(), collector.close()])
})

const enqueueSpan = 'b7ad6b7169203331'
const error = 2

async function replica() {
  const runner = await startRunner({
    databaseUrl: scene.database.url,
    config: readConfig({ Q_THREADS: '1', Q_PRESET: 'fast' }),
    version: '1',
    taskModules: [new URL('./tasks/traced.ts', import.meta.url).href],
    observe: () => {},
  })
  const drain = () => Promise.race([runner.drain(), runner.drain()])
  onTestFinished(drain)
  return { drain }
}

function spansOf(traceId: string, name: string) {
  return collector.spans.filter((span) => span.traceId === traceId && span.name === name)
}

async function untilCollected(traceId: string, name: string, count: number) {
  await expect.poll(() => spansOf(traceId, name).length, { timeout: 60_000 }).toBe(count)
  return spansOf(traceId, name)
}

test('attempts on two replicas are children of one span, which lasts from the enqueue to the end', async () => {
  const traceId = '1af7651916cd43dd8448eb211c80319c'
  const first = await replica()
  const run = await q.enqueue('flaky', {}, { trace: `00-${traceId}-${enqueueSpan}-01` })
  await untilCollected(traceId, 'process flaky', 1)
  await first.drain()
  expect(spansOf(traceId, 'run flaky')).toEqual([])
  const second = await replica()
  // As if the hour until its next attempt had passed.
  await sql`UPDATE q.task_run SET run_at = clock_timestamp() WHERE id = ${run.id} AND waiting_for = 'time'`.execute(
    scene.db,
  )
  expect(await run.result()).toBe(2)
  const attempts = await untilCollected(traceId, 'process flaky', 2)
  const [span] = await untilCollected(traceId, 'run flaky', 1)
  await second.drain()
  expect(spansOf(traceId, 'run flaky'), 'once').toHaveLength(1)
  expect(span).toMatchObject({
    parentSpanId: enqueueSpan,
    links: [{ traceId, spanId: enqueueSpan }],
    attributes: { 'messaging.message.id': run.id, 'q.run.status': 'SUCCEEDED', 'q.run.attempts': 2, 'q.run.epoch': 1 },
  })
  expect(span?.status.code).not.toBe(error)
  expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([span?.spanId, span?.spanId])
  expect(attempts.map(({ attributes }) => attributes['q.run.attempt'])).toEqual([1, 2])
  const { run: row } = (await scene.store.getTaskRun(run.id))!
  const { startTimeUnixNano: began, endTimeUnixNano: ended } = span!
  const times = [row.createdAt, row.finishedAt!].map((time) => time.getTime())
  // A date has no fractions of a millisecond.
  expect([began, ended].map((time, no) => Math.abs(Number(time) / 1e6 - times[no]!) < 1)).toEqual([true, true])
})

test('the replica that recovers a run of a dead one records its span', async () => {
  const traceId = '2af7651916cd43dd8448eb211c80319c'
  const publisher = await replica()
  await publisher.drain()
  const run = await q.enqueue('inner', {}, { trace: `00-${traceId}-${enqueueSpan}-01` })
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'fake-replica-id' WHERE id = ${run.id}`.execute(
    scene.db,
  )
  await replica()
  const [span] = await untilCollected(traceId, 'run inner', 1)
  expect(span).toMatchObject({
    parentSpanId: enqueueSpan,
    status: { code: error },
    attributes: { 'q.run.status': 'FAILED', 'error.type': 'WORKER_CRASHED' },
  })
  expect(spansOf(traceId, 'process inner')).toEqual([])
})
