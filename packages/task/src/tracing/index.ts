export {
  canTraceRuns,
  isTracing,
  traceAttempt,
  traceEnqueue,
  traceRun,
  traceStep,
  type Attempt,
  type EndedRun,
  type Enqueued,
} from './tracing.ts'
export { createSpanIds, type SpanIds } from './span-ids.ts'
export { remoteSpanOf } from './traceparent.ts'
