/** Converts any error to the problem of the response. Internal errors reveal no details. */
import { isExplained, redactPatterns } from '@q/schema'
import { explainDatabaseError } from '@q/store'
import type { Problem } from '../api/problem.ts'
import { Refusal } from './refusal.ts'

export interface Answered {
  readonly problem: Problem
  readonly headers: Readonly<Record<string, string>>
  /** Set for an internal error, which belongs in the log. */
  readonly fault?: unknown
}

/** The status for each error code of the store and the client; other codes get 400. */
const statuses: Readonly<Record<string, number>> = {
  INVALID_PAYLOAD: 422,
  PAYLOAD_TOO_LARGE: 413,
  SCHEDULE_INVALID: 400,
  SCHEDULE_NOT_FOUND: 404,
  NODE_AMBIGUOUS: 409,
  NOT_POSTGRESQL: 503,
  // The database answered, but not in time, or in favour of another transaction.
  DATABASE_TIMEOUT: 504,
  DATABASE_CONFLICT: 409,
}

export async function problemOf(thrown: unknown, databaseUrl: string): Promise<Answered> {
  if (thrown instanceof Refusal) return { problem: problemOfError(thrown, thrown.status), headers: thrown.headers }
  if (isExplained(thrown)) return answered(thrown)
  const explained = await explainDatabaseError(thrown, databaseUrl).catch(() => thrown)
  if (isExplained(explained)) return { ...answered(explained), fault: thrown }
  return { problem: problemOfError(internal, 500), headers: {}, fault: thrown }
}

/** Problems of the database pass: the same request may succeed a little later. */
function answered(error: Explanation): Answered {
  const headers = error.code.startsWith('DATABASE_') ? { 'Retry-After': '2' } : {}
  return { problem: { ...problemOfError(error, statusOf(error.code)), ...errorsIn(error) }, headers }
}

function statusOf(code: string): number {
  return statuses[code] ?? (/^(DATABASE|SCHEMA|PROGRAM)_/.test(code) ? 503 : 400)
}

/** At most this many positions are named. */
const errorsMax = 20

/** The positions in a payload that does not fit its task, as JSON pointers after "payload". */
function errorsIn(thrown: object): Pick<Problem, 'errors'> {
  if (!('issues' in thrown) || !Array.isArray(thrown.issues)) return {}
  const issues: readonly { readonly pointer: string; readonly message: string }[] = thrown.issues.slice(0, errorsMax)
  return {
    errors: issues.map(({ pointer, message }) => ({ at: `payload${pointer}`, problem: redactPatterns(message) })),
  }
}

interface Explanation {
  readonly code: string
  readonly message: string
  readonly why: string
  readonly fix: string
  readonly more?: Refusal['more']
}

const internal: Explanation = {
  code: 'INTERNAL_ERROR',
  message: 'The server could not answer.',
  why: 'An unexpected error happened; the log of the server has the details.',
  fix: 'Try again; if it happens again, report it with the log.',
}

function problemOfError({ code, message, why, fix, more }: Explanation, status: number): Problem {
  return {
    type: `urn:q:problem:${code}`,
    title: redactPatterns(message),
    status,
    code,
    why: redactPatterns(why),
    fix: redactPatterns(fix),
    docs: 'docs/errors.md',
    ...more,
  }
}
