export type EmbeddedErrorCode =
  | 'DATA_DIR_UNWRITABLE'
  | 'DATA_DIR_NOT_ENTERABLE'
  | 'DATA_DIR_FOREIGN'
  | 'DATA_DIR_NOT_A_CLUSTER'
  | 'DATA_VERSION'
  | 'DISK_FULL'
  | 'PLATFORM_UNSUPPORTED'
  | 'SERVER_DID_NOT_START'

interface ErrorExplanation {
  readonly code: EmbeddedErrorCode
  readonly what: string
  readonly why: string
  readonly fix: string
  readonly cause?: unknown
}

/**
 * An error of the embedded server, for people: what happened (the message), why, and how to fix it. It never contains the
 * password: log lines are redacted first.
 */
export class EmbeddedError extends Error {
  readonly code: EmbeddedErrorCode
  readonly why: string
  readonly fix: string

  constructor(complaint: ErrorExplanation) {
    super(complaint.what, complaint.cause === undefined ? undefined : { cause: complaint.cause })
    this.name = 'EmbeddedError'
    this.code = complaint.code
    this.why = complaint.why
    this.fix = complaint.fix
  }
}
