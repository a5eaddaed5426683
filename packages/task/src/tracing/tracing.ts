/**
 * Creates spans of enqueues, runs, attempts and steps. No other file uses OpenTelemetry, and this one uses only its API: a
 * program that registers an SDK gets spans; every other program and thread loads and creates nothing.
 */
import type * as Api from '@opentelemetry/api'
import { attemptSpan, enqueueSpan, failedWith, enqueuedId, runSpan, stepSpan, type SpanText } from './conventions.ts'
import { canChooseIds, runSpanId, withSpanId } from './span-ids.ts'
import { remoteSpanOf, traceparentOf } from './traceparent.ts'

/** The global symbol under which every copy of the API stores the registered SDK. */
const registry = Symbol.for('opentelemetry.js.api.1')

/** Whether an SDK that records spans is registered in this thread. */
export function isTracing(): boolean {
  const registered: unknown = Reflect.get(globalThis, registry)
  return typeof registered === 'object' && registered !== null && Reflect.has(registered, 'trace')
}

/** Whether that SDK also records a span for each run: its generator of ids is ours. */
export function canTraceRuns(): boolean {
  return isTracing() && canChooseIds()
}

let loading: Promise<typeof Api | undefined> | undefined

/** Undefined: this program has no SDK, or this package cannot load its API. */
function openTelemetry(): Promise<typeof Api | undefined> {
  loading ??= import('@opentelemetry/api').catch(() => undefined)
  return loading
}

export interface Enqueued {
  /** The task, or the name of the workflow. */
  readonly destination: string
  readonly count: number
}

/** Calls `send` within a span, with the trace context to store; undefined without an SDK. */
export async function traceEnqueue<T>(
  about: Enqueued,
  send: (trace: string | undefined) => Promise<T>,
  idOf: (sent: T) => string | undefined,
): Promise<T> {
  const api = isTracing() ? await openTelemetry() : undefined
  if (api === undefined) return send(undefined)
  return within(api, enqueueSpan(about), { kind: api.SpanKind.PRODUCER }, async (span) => {
    const sent = await send(traceparentOf(span.spanContext()))
    const id = idOf(sent)
    if (id !== undefined) span.setAttributes(enqueuedId(id))
    return sent
  })
}

export interface Attempt {
  readonly task: string
  readonly runId: string
  readonly epoch: number
  readonly attempt: number
  /** The trace context that was stored with the run. */
  readonly trace?: string | undefined
}

/**
 * Calls `execute` within a span that links to the enqueue. It is a child of the span of the run if that is recorded, else of
 * the enqueue. `codeOf`: the error code, if it failed.
 */
export async function traceAttempt<T>(
  attempt: Attempt,
  execute: () => Promise<T>,
  codeOf: (report: T) => string | undefined,
): Promise<T> {
  const api = isTracing() ? await openTelemetry() : undefined
  if (api === undefined) return execute()
  const remote = remoteSpanOf(attempt.trace)
  const enqueue = remote && { ...remote, isRemote: true }
  const options = { kind: api.SpanKind.CONSUMER, links: enqueue === undefined ? [] : [{ context: enqueue }] }
  return within(
    api,
    attemptSpan(attempt),
    options,
    async (span) => {
      const report = await execute()
      const code = codeOf(report)
      if (code !== undefined) span.setAttributes(failedWith(code)).setStatus({ code: api.SpanStatusCode.ERROR })
      return report
    },
    enqueue === undefined ? api.ROOT_CONTEXT : childOf(api, { ...enqueue, ...ownSpan(attempt) }),
  )
}

function ownSpan({ trace, runId, epoch }: Attempt): Partial<Api.SpanContext> {
  return trace !== undefined && canChooseIds() ? { spanId: runSpanId({ runId, epoch, trace }) } : {}
}

function childOf(api: typeof Api, parent: Api.SpanContext): Api.Context {
  return api.trace.setSpanContext(api.ROOT_CONTEXT, parent)
}

export interface EndedRun {
  readonly task: string
  readonly runId: string
  readonly epoch: number
  readonly trace: string
  readonly status: string
  /** How often its code was started. */
  readonly attempts: number
  readonly code: string | null
  /** When it was enqueued, or its epoch began; in milliseconds since 1970. */
  readonly beganMs: number
  readonly endedMs: number
}

/** Records the span of a run that has ended, whichever replicas executed its attempts. */
export async function traceRun(run: EndedRun): Promise<void> {
  const api = canTraceRuns() ? await openTelemetry() : undefined
  const enqueue = remoteSpanOf(run.trace)
  if (api === undefined || enqueue === undefined) return
  const context = { ...enqueue, isRemote: true }
  const { name, attributes } = runSpan(run)
  const options = { kind: api.SpanKind.INTERNAL, attributes, links: [{ context }], startTime: run.beganMs }
  const tracer = api.trace.getTracer('q')
  const span = withSpanId(runSpanId(run), () => tracer.startSpan(name, options, childOf(api, context)))
  if (run.code !== null) span.setAttributes(failedWith(run.code))
  if (run.status === 'FAILED') span.setStatus({ code: api.SpanStatusCode.ERROR })
  span.end(run.endedMs)
}

/** Calls the step within a span. */
export async function traceStep<T>(name: string, step: () => T | Promise<T>): Promise<T> {
  const api = isTracing() ? await openTelemetry() : undefined
  return api === undefined ? step() : within(api, stepSpan(name), {}, async () => step())
}

async function within<T>(
  api: typeof Api,
  { name, attributes }: SpanText,
  options: Api.SpanOptions,
  call: (span: Api.Span) => Promise<T>,
  parent: Api.Context = api.context.active(),
): Promise<T> {
  const span = api.trace.getTracer('q').startSpan(name, { ...options, attributes }, parent)
  try {
    return await api.context.with(api.trace.setSpan(parent, span), call, undefined, span)
  } catch (error) {
    span.setAttributes(failedWith(error instanceof Error ? error.name : 'Error'))
    span.setStatus({ code: api.SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}
