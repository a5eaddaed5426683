/**
 * One attempt of a task's code, without a database: the payload is checked, the code is called with a context that writes
 * everything down, and what becomes of the run is told by the rules of the runner. The payload and the result go through
 * JSON, as they do in production.
 *
 *     const { result, enqueued } = await runTask(resize, { url })
 */
import { endOf, inlineLine, runOrder, type End, type RunOrder, type RunReport } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import { checkJson, problemsText } from '@q/schema/json'
import { optionData, type ArrivingView, type PayloadOf, type ResultOf, type Task } from '@q/task'
import { createRecorder, type Recorded } from './recorder.ts'

export interface RunTaskOptions {
  /** 1 unless said. Whether a failure is tried again depends on it. */
  readonly attempt?: number
  /** What an earlier attempt saved with checkpoint(). */
  readonly resumed?: unknown
  /** What steps of earlier attempts returned, by their names: once() does not do them again. */
  readonly done?: Readonly<Record<string, unknown>>
  /** Aborts: the run is cancelled. */
  readonly signal?: AbortSignal
  readonly runId?: string
}

export type TaskTrial<Result> = Recorded & Ended<Result>

type Ended<Result> =
  | { readonly outcome: 'succeeded'; readonly result: Result }
  /** `retried`: in production it would be started again, after `afterMs` where the code said so. */
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
  const deps = { registry, line: inlineLine(recorder.hear), openPulse: recorder.openPulse }
  const report = await runOrder(deps, orderOf(payload, options, attempt))
  const { retry, onCrash, timeoutMs, maxSilentMs } = optionData(task.options)
  const policy = {
    retry,
    onCrash: onCrash ?? 'fail',
    timeoutMs,
    maxSilentMs,
    noEvidenceMs: Number.POSITIVE_INFINITY,
  } as const
  const end = endOf(report, signal.aborted ? 'cancelled' : undefined, policy)
  return { ...endedBy<ArrivingView<Awaited<ResultOf<T>>>>(end, report, attempt < retry.attempts), ...recorder.recorded }
}

function orderOf(payload: unknown, { resumed, done, runId = '1' }: RunTaskOptions, attempt: number): RunOrder {
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
    checkpoint: saved === null ? null : jsonOf('What an earlier attempt saved', saved),
    databaseUrl: undefined,
  }
}

function endedBy<Result>(end: End, report: RunReport, attemptsLeft: boolean): Ended<Result> {
  if (end.kind === 'snooze') return { outcome: 'snoozed', afterMs: end.afterMs }
  if (end.kind !== 'settle') throw new Error('A run that nobody else can have was given away.')
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
