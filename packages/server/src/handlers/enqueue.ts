/** Enqueues a run of a published task. The payload is checked by the task's published schema. */
import type { AnyTasks, EnqueueOptions, Queue } from '@q/client'
import { InexactInteger, parseExactJson } from '@q/schema/json'
import { remoteSpanOf } from '@q/task/tracing'
import { requireShallow } from '../http/require-shallow.ts'
import { wrongParameters } from '../http/refusal.ts'
import { Reply, type RouteCall } from '../http/route-call.ts'
import { given } from './given.ts'

type EnqueueCall = RouteCall<'POST /api/runs'>

export async function enqueueRun(queue: Queue<AnyTasks>, { body, headers, note }: EnqueueCall) {
  note.detail = { task: body.task }
  const run = await queue.enqueue(body.task, payloadOf(body), optionsOf(body, headers))
  const { status } = await run.status()
  note.subject = `run ${run.id}`
  note.answer = run.duplicate ? 'duplicate' : 'enqueued'
  const answer = { runId: run.id, status, duplicate: run.duplicate }
  return new Reply(answer, { status: run.duplicate ? 200 : 201, headers: { Location: `/api/runs/${run.id}` } })
}

function optionsOf(body: EnqueueCall['body'], headers: Headers): EnqueueOptions {
  const { delayMs, runAt, priority, group, expiresMs } = body
  return given({
    delay: delayMs,
    runAt: runAt === undefined ? undefined : new Date(runAt),
    priority,
    group,
    expires: expiresMs,
    idempotencyKey: headers.get('Idempotency-Key') ?? undefined,
    trace: traceOf(headers),
  })
}

/** An invalid header is ignored, as the W3C specification demands. */
function traceOf(headers: Headers): string | undefined {
  const trace = headers.get('traceparent') ?? undefined
  return remoteSpanOf(trace) === undefined ? undefined : trace
}

function payloadOf({ payload, payloadText }: EnqueueCall['body']): unknown {
  if (payloadText === undefined) return payload ?? {}
  if (payload !== undefined)
    throw wrongParameters([{ at: 'payloadText', problem: 'says the same as payload: give one of them' }])
  requireShallow(payloadText, 'payloadText')
  try {
    return parseExactJson(payloadText)
  } catch (error) {
    throw wrongParameters([
      { at: 'payloadText', problem: error instanceof InexactInteger ? error.message : 'cannot be read as JSON' },
    ])
  }
}
