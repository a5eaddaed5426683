/** An error in a task definition or a task module: code, what, why, fix. */
export class TaskDefinitionError extends Error {
  override readonly name = 'TaskDefinitionError'
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
