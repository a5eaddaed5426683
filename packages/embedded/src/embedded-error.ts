export type EmbeddedErrorCode =
  | 'DATA_DIR_UNWRITABLE'
  | 'DATA_DIR_NOT_ENTERABLE'
  | 'DATA_DIR_FOREIGN'
  | 'DATA_DIR_NOT_A_CLUSTER'
  | 'DATA_VERSION'
  | 'DISK_FULL'
  | 'PLATFORM_UNSUPPORTED'
  | 'SERVER_DID_NOT_START'

export interface Complaint {
  readonly code: EmbeddedErrorCode
  readonly what: string
  readonly why: string
  readonly fix: string
  readonly cause?: unknown
}

/**
 * Everything that can keep the server from being there, said to a person: what happened (the message), why, and how
 * to fix it. None of the three ever carries the password: log lines are scrubbed before they get here.
 */
export class EmbeddedError extends Error {
  readonly code: EmbeddedErrorCode
  readonly why: string
  readonly fix: string

  constructor(complaint: Complaint) {
    super(complaint.what, complaint.cause === undefined ? undefined : { cause: complaint.cause })
    this.name = 'EmbeddedError'
    this.code = complaint.code
    this.why = complaint.why
    this.fix = complaint.fix
  }
}
