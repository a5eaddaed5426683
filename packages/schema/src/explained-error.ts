/**
 * An error for people: a stable code, what happened (the message), why, and how to fix it.
 * Programs that print errors recognise the shape, not the class, so standalone packages can have their own class.
 * None of its texts may contain a secret.
 */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError'
  readonly code: string
  readonly why: string
  readonly fix: string

  constructor(explained: { code: string; what: string; why: string; fix: string; cause?: unknown }) {
    super(explained.what, explained.cause === undefined ? {} : { cause: explained.cause })
    this.code = explained.code
    this.why = explained.why
    this.fix = explained.fix
  }
}

export interface Explained {
  readonly code: string
  readonly message: string
  readonly why: string
  readonly fix: string
}

export function isExplained(error: unknown): error is Error & Explained {
  return error instanceof Error && ['code', 'why', 'fix'].every((key) => typeof Reflect.get(error, key) === 'string')
}
