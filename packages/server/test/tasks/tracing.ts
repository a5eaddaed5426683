import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createSpanIds } from '@q/task/tracing'

const exporter = new OTLPTraceExporter() // OTEL_EXPORTER_OTLP_ENDPOINT says where to
const spanProcessors = [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 500 })]
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors, idGenerator: createSpanIds() }))
