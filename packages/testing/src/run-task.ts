/**
 * Executes one attempt of a task without a database: checks the payload, calls the code with a recording context, and decides
 * the outcome by the rules of the runner. Payload and result pass through JSON, as in production.
 *
 *     const { result, enqueued } = await runTask(resize, { url })
 */
import {
  decideOutcome,
  inlineChannel,
  executeCommand,
  type OutcomeDecision,
  type RunCommand,
  type RunReport,
} from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import { checkJson, problemsText } from '@q/schema/json'
import { optionData, type ArrivingView, type PayloadOf, type ResultOf, type Task } from '@q/task'
import { createRecorder, type Recording } from './recorder.ts'

export interface RunTaskOptions {
  /** The number of the attempt, which decides whether a failure is retried. Default: 1. */
  readonly attempt?: number
  /** The checkpoint of an earlier attempt. */
  readonly resumed?: unknown
  /** Results of once() in earlier attempts, by step name; these steps are not executed again. */
  readonly done?: Readonly<Record<string, unknown>>
  /** Cancels the run when it aborts. */
  readonly signal?: AbortSignal
  readonly runId?: string
}

export type TaskTrial<Result> = Recording & RunEnd<Result>

type RunEnd<Result> =
  | { readonly outcome: 'succeeded'; readonly result: Result }
  /** `retried`: in production the run would start again, after `afterMs` if the code set it. */
  | {
      readonly outcome: 'failed' | 'retried' | 'cancelled'
      readonly result?: undefined
      readonly code: string
      readonly detail: string
      readonly stack?: string
      readonly afterMs?: number
    }
  | { readonly outcome: 'snoozed'; readonly result?: undefined; readonly afterMs: number }

const name = 'task'

export async function runTask<T extends Task<never>>(
  task: T,
  payload: PayloadOf<T>,
  options: RunTaskOptions = {},
): Promise<TaskTrial<ArrivingView<Awaited<ResultOf<T>>>>> {
  const { attempt = 1, signal = new AbortController().signal } = options
  const recorder = createRecorder(signal)
  const registry = { tasks: new Map([[name, task]]), problems: [] }
  const deps = { registry, channel: inlineChannel(recorder.onMessage), openSlot: recorder.openSlot }
  const report = await executeCommand(deps, commandOf(payload, options, attempt))
  const { retry, onCrash, timeoutMs, maxSilentMs } = optionData(task.options)
  const policy = {
    retry,
    onCrash: onCrash ?? 'fail',
    timeoutMs,
    maxSilentMs,
    noEvidenceMs: Number.POSITIVE_INFINITY,
  } as const
  const end = decideOutcome(report, signal.aborted ? 'cancelled' : undefined, policy)
  return { ...endedBy<ArrivingView<Awaited<ResultOf<T>>>>(end, report, attempt < retry.attempts), ...recorder.recorded }
}

function commandOf(payload: unknown, { resumed, done, runId = '1' }: RunTaskOptions, attempt: number): RunCommand {
  const saved = resumed === undefined && done === undefined ? null : { state: resumed, once: done ?? {} }
  return {
    seq: 1,
    fenced: false,
    runId,
    fence: attempt,
    epoch: 1,
    attempt,
    task: name,
    payload: jsonOf('The payload', payload),
    checkpoint: saved === null ? null : jsonOf('The checkpoint of an earlier attempt', saved),
    databaseUrl: undefined,
  }
}

function endedBy<Result>(end: OutcomeDecision, report: RunReport, attemptsLeft: boolean): RunEnd<Result> {
  if (end.kind === 'snooze') return { outcome: 'snoozed', afterMs: end.afterMs }
  if (end.kind !== 'settle') throw new Error('An attempt without a database cannot be released.')
  const { outcome } = end
  if (outcome.status === 'SUCCEEDED') return { outcome: 'succeeded', result: JSON.parse(outcome.result) as Result }
  const { code, detail } = outcome
  if (outcome.status === 'CANCELLED') return { outcome: 'cancelled', code, detail }
  const again = report.ended === 'failed' && typeof report.again === 'object' ? { afterMs: report.again.afterMs } : {}
  const stack = outcome.stack === undefined ? {} : { stack: outcome.stack }
  if (outcome.retry !== undefined && attemptsLeft) return { outcome: 'retried', code, detail, ...stack, ...again }
  return { outcome: 'failed', code, detail, ...stack }
}

function jsonOf(what: string, value: unknown): string {
  const checked = checkJson(value)
  if (checked.ok) return checked.text
  throw new ExplainedError({
    code: 'PAYLOAD_NOT_JSON',
    what: `${what} cannot be stored; the code was not started.`,
    why: `${problemsText(checked.problems)}.`,
    fix: 'Pass plain data, at most 1 MiB as JSON.',
  })
}
