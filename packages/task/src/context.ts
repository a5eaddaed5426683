/** The context, the second argument of a task's function. */
import type { Duration } from './duration.ts'
import type { ArrivingView, JsonView } from './json-view.ts'

/** `State` is the type of the checkpoint: `(payload, ctx: TaskContext<{ row: number }>) => …`. */
export interface TaskContext<State = unknown> {
  /** A decimal string, because ids have 64 bits. */
  readonly runId: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The same for every attempt of an epoch. Pass it to services that must not apply a request twice. */
  readonly idempotencyKey: string
  /** The lease of this attempt, for `finishTaskRun(trx, lease, …)` in your own transaction. */
  readonly lease: { readonly runId: string; readonly fence: number }
  /**
   * The URL of the database of this run, with the password; undefined unless the task has `database: true`. Use it for your
   * own connection: `finishTaskRun` in its transaction ends the run together with the writes of the code.
   */
  readonly databaseUrl: string | undefined
  /** Aborts when the run is cancelled, timed out or lost. Synchronous code does not see it: call `heartbeat()` there. */
  readonly signal: AbortSignal
  /**
   * Reports that the code is alive, with an optional progress (0 to 1) and note. Synchronous and cheap: call it in every
   * iteration of a loop. Throws when the run is cancelled, timed out, lost or ended, which stops a synchronous loop.
   */
  heartbeat(progress?: number, note?: string): void
  /** Reports progress (0 to 1) and a note; the same as `heartbeat(value, note)`. */
  progress(progress: number, note?: string): void
  /** Writes log lines that are stored with the run, also from a busy loop. Each line counts as a heartbeat. Long lines are cut, and lines above the limit are dropped. */
  readonly log: TaskLog
  /** The last checkpoint of an earlier attempt, or undefined. */
  readonly resumed: JsonView<State> | undefined
  /**
   * Saves the state of the code; a later attempt finds it in `resumed`. Resolves when it is stored; rejects if it cannot be
   * stored or the run was lost. JSON, at most 1 MiB including the results that `once` stores.
   */
  checkpoint(state: State): Promise<void>
  /**
   * Executes a step once per run: its result is stored with the checkpoint, and later attempts return the stored result.
   * Returns the result as JSON has it. A crash between the step and the write repeats the step.
   */
  once<Result>(name: string, step: () => Result | Promise<Result>): Promise<ArrivingView<Result>>
  /** Enqueues another run by the name of its task. Durable when it resolves, even if this run fails later. */
  enqueue(task: string, payload: unknown, options?: ChildRunOptions): Promise<{ readonly id: string }>
}

export interface ChildRunOptions {
  readonly delay?: Duration
  /** Lower numbers run first. Default: the task's. */
  readonly priority?: number
}

/** Logs as pino does: fields first, then a fixed message. */
export interface TaskLog {
  debug: LogMethod
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

export interface LogMethod {
  (sentence: string): void
  (facts: Readonly<Record<string, unknown>>, sentence: string): void
}

/** Thrown by `ctx.heartbeat()` when the run was stopped. Let it pass: anything the function returns or throws afterwards is ignored. */
export class RunAborted extends Error {
  override readonly name = 'RunAborted'
}

/** A rejected request of the code: a checkpoint that is not JSON, a payload that is too large. */
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
