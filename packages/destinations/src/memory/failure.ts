/** The memory server did not do what it was asked. The message is for people; the outbox tries again. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure'
  /** The server cannot answer sooner. */
  readonly retryAfterMs: number
  /** Whether the server was not asked, because it failed just before. */
  readonly notTried: boolean

  constructor(
    message: string,
    {
      retryAfterMs = 1_000,
      notTried = false,
      cause,
    }: { retryAfterMs?: number; notTried?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
    this.notTried = notTried
  }
}
