/** What a task's function is given beside its payload. */
import type { Duration } from './duration.ts'
import type { ArrivingView, JsonView } from './json-view.ts'

/** `State`: what the code saves of itself, if it says so: `(payload, ctx: TaskContext<{ row: number }>) => …`. */
export interface TaskContext<State = unknown> {
  /** Decimal string: ids are 64 bit. */
  readonly runId: string
  /** 1 for the first start of the code. */
  readonly attempt: number
  /** The same for every attempt of one request: pass it to services that must not do a thing twice. */
  readonly idempotencyKey: string
  /** What this execution must show to write: `finishTaskRun(trx, lease, …)` inside your own transaction. */
  readonly lease: { readonly runId: string; readonly fence: number }
  /**
   * The URL of the database of this run, with the password; undefined unless the task has `database: true`. Use it for your
   * own connection: `finishTaskRun` in its transaction ends the run together with the writes of the code.
   */
  readonly databaseUrl: string | undefined
  /** Aborts when the run is cancelled, timed out or lost. Only seen while the thread is not busy: see heartbeat. */
  readonly signal: AbortSignal
  /**
   * A sign of life, with progress from 0 to 1 and a note if you like. Synchronous and cheap: call it in every round of
   * a loop. Throws when the run is cancelled, timed out, lost or over, which is how a synchronous loop is stopped.
   */
  heartbeat(progress?: number, note?: string): void
  /** The same, for code that has something to tell. */
  progress(progress: number, note?: string): void
  /** Kept with the run; each line is a sign of life. Gets out of a busy loop too. Long lines are cut, too many dropped. */
  readonly log: TaskLog
  /** What an earlier attempt saved last with `checkpoint`, or undefined. */
  readonly resumed: JsonView<State> | undefined
  /**
   * Saves where the code is; a later attempt finds it in `resumed`. Resolves when it is stored; rejects when it cannot be,
   * and when the run is no longer ours. JSON, at most 1 MiB with all that `once` remembers.
   */
  checkpoint(state: State): Promise<void>
  /**
   * A step of this run that is not done again by a later attempt: its result is stored with the checkpoint, and what is
   * returned is what JSON shows of it. A crash between the step and its storing does it again.
   */
  once<Result>(name: string, step: () => Result | Promise<Result>): Promise<ArrivingView<Result>>
  /** Another run, by the name of its task. Durable when it resolves; not undone if this run fails. */
  enqueue(task: string, payload: unknown, options?: ChildRunOptions): Promise<{ readonly id: string }>
}

export interface ChildRunOptions {
  readonly delay?: Duration
  /** Lower numbers first. Default: the task's. */
  readonly priority?: number
}

/** pino's way: a fixed sentence, with facts before it. */
export interface TaskLog {
  debug: LogLine
  info: LogLine
  warn: LogLine
  error: LogLine
}

export interface LogLine {
  (sentence: string): void
  (facts: Readonly<Record<string, unknown>>, sentence: string): void
}

/** Thrown out of `ctx.heartbeat()`. There is no need to catch it: what the function does from then on counts for nothing. */
export class RunAborted extends Error {
  override readonly name = 'RunAborted'
}

/** A wish of the code that could not be granted: a checkpoint that is no JSON, a payload that is too large. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly code: string
  readonly why: string
  readonly fix: string

  constructor(explained: { code: string; what: string; why: string; fix: string }) {
    super(explained.what)
    this.code = explained.code
    this.why = explained.why
    this.fix = explained.fix
  }
}
