/**
 * The names and attributes of spans: the OpenTelemetry conventions for messaging where they apply, and names that begin
 * with `q.` otherwise. Spans never contain payloads, results or error messages.
 */
export interface SpanText {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
}

const system = { 'messaging.system': 'q' }

/** The span of an enqueue of one or several runs, or of the start of a workflow. */
export function enqueueSpan({
  destination,
  count,
}: {
  readonly destination: string
  readonly count: number
}): SpanText {
  return {
    name: `enqueue ${destination}`,
    attributes: {
      ...system,
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'enqueue',
      'messaging.destination.name': destination,
      ...(count > 1 && { 'messaging.batch.message_count': count }),
    },
  }
}

export function enqueuedId(runId: string): SpanText['attributes'] {
  return { 'messaging.message.id': runId }
}

/** The span of a run, from its enqueue to its end. */
export function runSpan(run: {
  readonly task: string
  readonly runId: string
  readonly epoch: number
  readonly status: string
  readonly attempts: number
}): SpanText {
  return {
    name: `run ${run.task}`,
    attributes: {
      ...system,
      'messaging.destination.name': run.task,
      'messaging.message.id': run.runId,
      'q.run.epoch': run.epoch,
      'q.run.status': run.status,
      'q.run.attempts': run.attempts,
    },
  }
}

/** The span of one attempt of a run. */
export function attemptSpan(run: {
  readonly task: string
  readonly runId: string
  readonly attempt: number
}): SpanText {
  return {
    name: `process ${run.task}`,
    attributes: {
      ...system,
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': run.task,
      'messaging.message.id': run.runId,
      'q.run.attempt': run.attempt,
    },
  }
}

export function failedWith(code: string): SpanText['attributes'] {
  return { 'error.type': code }
}

/** The span of a named step of an attempt: `ctx.once()`. */
export function stepSpan(name: string): SpanText {
  return { name: `step ${name}`, attributes: { 'q.step.name': name } }
}
