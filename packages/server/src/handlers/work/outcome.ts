/** Converts the outcome that a worker reports over HTTP to the type of the store. */
import { redactPatterns } from '@q/schema'
import { jsonLimits } from '@q/schema/json'
import type { Outcome, PublishedTask } from '@q/store'
import type { RetryData } from '@q/task'
import type { WorkOutcome } from '../../api/work.ts'
import { requireShallow } from '../../http/require-shallow.ts'
import { Refusal, wrongParameters } from '../../http/refusal.ts'

export function outcomeOfReport(report: WorkOutcome, task: PublishedTask | undefined): Outcome {
  const { resultText, error, cancelled } = report
  const given = [resultText, error, cancelled].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw wrongParameters([{ at: 'body', problem: 'must have one of resultText, error and cancelled' }])
  if (resultText !== undefined) return { status: 'SUCCEEDED', result: storable(resultText) }
  if (error === undefined)
    return { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: 'Cancelled while it was running.' }
  const { message, stack, retry } = error
  return {
    status: 'FAILED',
    code: 'TASK_ERROR',
    detail: redactPatterns(message),
    ...(stack === undefined ? {} : { stack: redactPatterns(stack) }),
    ...again(retry, task),
  }
}

/** The store decides whether attempts are left. A delay that the worker requests is used unchanged. */
function again(
  asked: NonNullable<WorkOutcome['error']>['retry'],
  task: PublishedTask | undefined,
): Pick<Extract<Outcome, { status: 'FAILED' }>, 'retry'> {
  if (asked === 'never') return {}
  if (asked !== undefined) return { retry: { delayMs: asked.afterMs } }
  const { backoff, delayMs = 1_000, maxDelayMs = 3_600_000 } = (task?.options['retry'] ?? {}) as Partial<RetryData>
  return { retry: { delayMs, delayMsMax: backoff === 'fixed' ? Math.min(delayMs, maxDelayMs) : maxDelayMs } }
}

function storable(text: string): string {
  const bytes = Buffer.byteLength(text)
  if (bytes > jsonLimits.bytesMax)
    throw new Refusal(422, {
      code: 'RESULT_TOO_LARGE',
      what: 'The result cannot be stored; nothing was written.',
      why: `It has ${bytes} bytes as JSON; at most ${jsonLimits.bytesMax} are stored.`,
      fix: 'Store large data elsewhere and report its address.',
    })
  requireShallow(text, 'resultText')
  try {
    JSON.parse(text)
    return text
  } catch {
    throw wrongParameters([{ at: 'resultText', problem: 'cannot be read as JSON' }])
  }
}
