/**
 * How spans are named and what they say: the OpenTelemetry conventions for messaging, where there is one for it, and names that
 * begin with `q.` for the rest. Payloads, results and messages of errors are in no span.
 */
export interface SpanText {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
}

const system = { 'messaging.system': 'q' }

/** An enqueue of one run or of several, or the start of a workflow. */
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

/** One attempt of a run. */
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

/** A named step of an attempt: `ctx.once()`. */
export function stepSpan(name: string): SpanText {
  return { name: `step ${name}`, attributes: { 'q.step.name': name } }
}
