/**
 * Prints an error for a person: code, what happened, why, how to fix. A stack trace only with `Q_DEBUG=1`, a password
 * never. Also chooses the exit code.
 */
import { isExplained, printable, type Explained } from '@q/schema'
import type { Departure } from '../main/drain.ts'
import { errorMessage } from './error-message.ts'
import { redact } from './redact.ts'

export const exitCodes = {
  ok: 0,
  runFailed: 1,
  usage: 2,
  databaseUnreachable: 3,
  notFound: 4,
  timedOut: 5,
  /** A part of the request was refused, or a diagnosis found problems. */
  partly: 6,
  /** A replica left runs behind that it could neither stop nor settle; other replicas recover them. */
  runsLeftBehind: 7,
  /** Do not restart: the database needs another release of this program. */
  programTooOld: 57,
} as const

const codesWithExit: Record<string, number> = {
  DATABASE_UNREACHABLE: exitCodes.databaseUnreachable,
  DATABASE_CONNECTION_LOST: exitCodes.databaseUnreachable,
  DATABASE_TIMEOUT: exitCodes.databaseUnreachable,
  DATABASE_BUSY: exitCodes.databaseUnreachable,
  DATABASE_LOCKED: exitCodes.databaseUnreachable,
  DATABASE_CONFLICT: exitCodes.databaseUnreachable,
  DATABASE_LOGIN_REFUSED: exitCodes.databaseUnreachable,
  DATABASE_MISSING: exitCodes.databaseUnreachable,
  DATABASE_FULL: exitCodes.databaseUnreachable,
  DATABASE_STARTING: exitCodes.databaseUnreachable,
  DATABASE_READ_ONLY: exitCodes.databaseUnreachable,
  NOT_POSTGRESQL: exitCodes.databaseUnreachable,
  DATABASE_TLS_REFUSED: exitCodes.databaseUnreachable,
  PROGRAM_TOO_OLD: exitCodes.programTooOld,
  RUN_NOT_FOUND: exitCodes.notFound,
  NODE_NOT_FOUND: exitCodes.notFound,
  HEARTBEAT_NOT_FOUND: exitCodes.notFound,
  NODE_AMBIGUOUS: exitCodes.notFound,
  QUEUE_NOT_FOUND: exitCodes.notFound,
  DESTINATION_NOT_FOUND: exitCodes.notFound,
  DELIVERY_NOT_FOUND: exitCodes.notFound,
  SCHEDULE_NOT_FOUND: exitCodes.notFound,
  WORKFLOW_NOT_FOUND: exitCodes.notFound,
  ERROR_GROUP_NOT_FOUND: exitCodes.notFound,
  OPERATION_NOT_FOUND: exitCodes.notFound,
  PAGE_NOT_FOUND: exitCodes.notFound,
  MEMORY_KEY_NOT_FOUND: exitCodes.notFound,
  DESTINATION_BUSY: exitCodes.databaseUnreachable,
  MEMORY_SERVER_FAILED: exitCodes.runFailed,
  TOKEN_NOT_FOUND: exitCodes.notFound,
  WAIT_TIMED_OUT: exitCodes.timedOut,
}

/** Configuration and usage, unless the code says otherwise. */
export function exitCodeOf(error: unknown): number {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return isExplained(first) ? (codesWithExit[first.code] ?? exitCodes.usage) : exitCodes.runFailed
}

/** The exit code of a replica that has left. */
export function exitCodeAfter({ tooOld, runsLeftBehind }: Departure): number {
  if (tooOld) return exitCodes.programTooOld
  return runsLeftBehind > 0 ? exitCodes.runsLeftBehind : exitCodes.ok
}

export function problemText(error: unknown, options: { debug: boolean }): string {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
  return errors.map((one) => printable(redact(textOf(one, options.debug)))).join('\n\n')
}

/** As data, for `--json`. */
export function problemData(error: unknown): { error: Explained | { code: string; message: string } } {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  if (isExplained(first)) {
    return {
      error: { code: first.code, message: redact(first.message), why: redact(first.why), fix: redact(first.fix) },
    }
  }
  return { error: { code: 'UNEXPECTED', message: redact(first instanceof Error ? first.message : String(first)) } }
}

function textOf(error: unknown, debug: boolean): string {
  const stack = debug && error instanceof Error ? `\n\n${stackOf(error)}` : ''
  if (isExplained(error)) {
    return `${error.code}  ${error.message}\n  why  ${error.why}\n  fix  ${error.fix}${stack}`
  }
  const message = error instanceof Error ? `${error.name}: ${errorMessage(error)}` : String(error)
  return `UNEXPECTED  ${message}\n  why  This is a case we did not foresee.\n  fix  Run it again with Q_DEBUG=1 for the stack trace, and report it.${stack}`
}

const causesMax = 5

/** The stack of an error, with the stacks of its causes. */
function stackOf(error: Error, depth = 0): string {
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause instanceof Error && depth < causesMax
    ? `${own}\n\ncaused by ${stackOf(error.cause, depth + 1)}`
    : own
}
