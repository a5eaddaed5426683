/** Traces from a request through the enqueue to the code in a thread, as a collector receives them. */
import { readFile } from 'node:fs/promises'
import { context, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { queue, workflow } from '@q/client'
import { readConfig, startRunner } from '@q/runner'
import { isTracing } from '@q/task/tracing'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startCollector } from './collector.ts'
import { serverScene } from './scene.ts'
import type * as tasks from './tasks/traced.ts'

const [scene, collector] = await Promise.all([serverScene(), startCollector()])
const q = queue<typeof tasks>(scene.database.url)
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
const runner = await startRunner({
  databaseUrl: scene.database.url,
  config: readConfig({ Q_THREADS: '2' }),
  version: '1',
  taskModules: [new URL('./tasks/traced.ts', import.meta.url).href],
  observe: () => {},
})
afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  await q.close()
  await Promise.race([runner.drain(), runner.drain()])
  await Promise.all([scene.close(), collector.close()])
})

/** Kinds as they are sent, which count from 1. */
const sent = { producer: 4, consumer: 5 }
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

function spanNamed(name: string, ofTrace: string) {
  return expect
    .poll(() => collector.spans.find((span) => span.name === name && span.traceId === ofTrace), { timeout: 60_000 })
    .toBeDefined()
    .then(() => collector.spans.find((span) => span.name === name && span.traceId === ofTrace)!)
}

test('a request to the API with a traceparent continues its trace in the code of the run', async () => {
  const { data } = await scene.ask('POST', '/api/runs', {
    token: scene.tokens.enqueue,
    body: { task: 'inner', payload: 'secret-payload' },
    headers: { traceparent: `00-${traceId}-${spanId}-01` },
  })
  expect(await q.handle(data.runId).result()).toBe(traceId)
  const ofRun = await spanNamed('run inner', traceId)
  expect(ofRun).toMatchObject({ parentSpanId: spanId, attributes: { 'messaging.message.id': data.runId } })
  const span = await spanNamed('process inner', traceId)
  expect(span).toMatchObject({
    parentSpanId: ofRun.spanId,
    kind: sent.consumer,
    links: [{ traceId, spanId }],
    attributes: {
      'messaging.system': 'q',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'inner',
      'messaging.message.id': data.runId,
    },
  })
  expect(collector.text()).not.toContain('secret-payload')
})

test('a header that is not a trace context is ignored', async () => {
  const { status, data } = await scene.ask('POST', '/api/runs', {
    token: scene.tokens.enqueue,
    body: { task: 'inner' },
    headers: { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
  })
  expect(status).toBe(201)
  expect(await q.handle(data.runId).result()).not.toBe('0'.repeat(32))
})

/** An SDK in this process, as a web server has it. */
function registerSdk() {
  const exporter = new InMemorySpanExporter()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
  onTestFinished(() => {
    trace.disable()
    context.disable()
  })
  return exporter
}

test('one trace has the request, the enqueue, the run, the attempt, its step, and the run that its code enqueues', async () => {
  const exporter = registerSdk()
  const run = await trace.getTracer('web').startActiveSpan('GET /checkout', { kind: SpanKind.SERVER }, async (span) => {
    const enqueued = await q.enqueue('outer', { order: 1 })
    span.end()
    return enqueued
  })
  await run.result()
  const [enqueue, request] = exporter.getFinishedSpans()
  expect(enqueue).toMatchObject({
    name: 'enqueue outer',
    kind: SpanKind.PRODUCER,
    parentSpanContext: request?.spanContext(),
    attributes: { 'messaging.operation.type': 'send', 'messaging.message.id': run.id },
  })
  const { traceId: own, spanId: producer } = enqueue!.spanContext()
  const ofRun = await spanNamed('run outer', own)
  expect(ofRun).toMatchObject({ parentSpanId: producer, attributes: { 'q.run.status': 'SUCCEEDED' } })
  const attempt = await spanNamed('process outer', own)
  expect(attempt).toMatchObject({ parentSpanId: ofRun.spanId, links: [{ traceId: own, spanId: producer }] })
  expect(await spanNamed('step charge', own)).toMatchObject({ parentSpanId: attempt.spanId })
  const child = await spanNamed('enqueue inner', own)
  expect(child).toMatchObject({ parentSpanId: attempt.spanId, kind: sent.producer })
  const ofChild = await spanNamed('run inner', own)
  expect(ofChild).toMatchObject({ parentSpanId: child.spanId })
  expect(await spanNamed('process inner', own)).toMatchObject({ parentSpanId: ofChild.spanId })
})

test('many runs of one call share its span, and a failed attempt has its code and no message', async () => {
  const exporter = registerSdk()
  await q.enqueueMany([
    ['broken', 1],
    ['broken', 2],
  ])
  const [enqueue] = exporter.getFinishedSpans()
  expect(enqueue).toMatchObject({ name: 'enqueue broken', attributes: { 'messaging.batch.message_count': 2 } })
  const failed = await spanNamed('process broken', enqueue!.spanContext().traceId)
  expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'TASK_ERROR' } })
  expect(collector.text()).not.toContain('secret message')
})

test('all steps of a workflow continue the trace in which it was started', async () => {
  const exporter = registerSdk()
  const flow = workflow<typeof tasks>()('ordering', ({ step }) => {
    const first = step('inner', 1, { name: 'first' })
    step('inner', 2, { name: 'second', after: [first] })
  })
  const { id } = await q.start(flow, {})
  await q.workflow(id).result()
  const [start] = exporter.getFinishedSpans()
  expect(start).toMatchObject({ name: 'enqueue ordering', attributes: { 'messaging.message.id': id } })
  const own = start!.spanContext().traceId
  await expect
    .poll(() => collector.spans.filter((span) => span.name === 'process inner' && span.traceId === own).length)
    .toBe(2)
})

test('without an SDK nothing is traced, and a run has no trace context', async () => {
  expect(isTracing()).toBe(false)
  const { id } = await q.enqueue('inner', {})
  expect(await scene.store.getTaskRun(id)).toMatchObject({ run: { trace: null } })
})

test('the module that registers an SDK is the one in the document, to the letter', async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')
  expect(await read('../../../docs/how-to/monitor.md')).toContain(await read('./tasks/tracing.ts'))
})
