/** The memory server did not do what it was asked. The message is for people; the outbox tries again. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure'
  /** The server cannot answer sooner. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { retryAfterMs, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}
