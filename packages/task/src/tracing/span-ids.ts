/**
 * Ids of spans for an SDK. The span of a run gets an id that follows from the trace context stored with the run: every thread
 * of every replica computes the same one, so attempts can be its children before it exists, and no replica has to remember it.
 *
 * The API of OpenTelemetry cannot choose an id; the generator of an SDK can, and it is asked during `startSpan`.
 */
import { createHash, randomBytes } from 'node:crypto'

/** An `idGenerator` of an OpenTelemetry SDK. */
export interface SpanIds {
  generateTraceId(): string
  generateSpanId(): string
}

export interface RunEpoch {
  readonly runId: string
  readonly epoch: number
  /** The trace context that was stored with the run. */
  readonly trace: string
}

interface Shared {
  next: string | undefined
}

/** A program may have several copies of this package; the SDK uses one of them. */
const place = Symbol.for('q.span-ids')

/** Random ids, apart from those of runs. To be passed to the SDK, which then records a span for each run. */
export function createSpanIds(): SpanIds {
  const shared: Shared = sharedIds() ?? { next: undefined }
  Reflect.set(globalThis, place, shared)
  return {
    generateTraceId: () => randomId(16),
    generateSpanId() {
      const { next } = shared
      shared.next = undefined
      return next ?? randomId(8)
    },
  }
}

/** Whether an SDK of this thread can give the span of a run its id. */
export function canChooseIds(): boolean {
  return sharedIds() !== undefined
}

/** Calls `startSpan` with the generator set to this id. */
export function withSpanId<T>(id: string, startSpan: () => T): T {
  const shared = sharedIds()
  if (shared === undefined) return startSpan()
  shared.next = id
  try {
    return startSpan()
  } finally {
    shared.next = undefined
  }
}

export function runSpanId({ runId, epoch, trace }: RunEpoch): string {
  return createHash('sha256').update(`q run ${runId} ${epoch} ${trace}`).digest('hex').slice(0, 16)
}

function sharedIds(): Shared | undefined {
  return Reflect.get(globalThis, place) as Shared | undefined
}

/** All zeros are not an id. */
function randomId(bytes: number): string {
  const id = randomBytes(bytes).toString('hex')
  return /[^0]/.test(id) ? id : randomId(bytes)
}
