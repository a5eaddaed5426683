export { isTracing, traceAttempt, traceEnqueue, traceStep, type Attempt, type Enqueued } from './tracing.ts'
export { remoteSpanOf } from './traceparent.ts'
