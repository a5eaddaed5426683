/** The error of a failed call to the memory server. The message is for people; the outbox tries again. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure'
  /** When to try again, if the server cannot answer sooner. */
  readonly retryAfterMs: number
  /** Whether no call was made, because the server had failed just before. */
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
