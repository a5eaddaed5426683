/** What a task's function is given beside its payload. */
export interface TaskContext {
  /** Decimal string: ids are 64 bit. */
  readonly runId: string
  /** 1 for the first start of the code. */
  readonly attempt: number
  /** The same for every attempt of one request: pass it to services that must not do a thing twice. */
  readonly idempotencyKey: string
  /** What this execution must show to write: `finishTaskRun(trx, lease, …)` inside your own transaction. */
  readonly lease: { readonly runId: string; readonly fence: number }
  /** Aborts when the run is cancelled, timed out or lost. Only seen while the thread is not busy: see heartbeat. */
  readonly signal: AbortSignal
  /**
   * A sign of life, with progress from 0 to 1 and a note if you like. Synchronous and cheap: call it in every round of
   * a loop. Throws when the run is cancelled or its lease lost, which is how a synchronous loop is stopped.
   */
  heartbeat(progress?: number, note?: string): void
}

/** Thrown out of `ctx.heartbeat()`. There is no need to catch it: what the function does from then on counts for nothing. */
export class RunAborted extends Error {
  override readonly name = 'RunAborted'
}
