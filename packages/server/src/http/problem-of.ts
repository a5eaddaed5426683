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
}

export async function problemOf(thrown: unknown, databaseUrl: string): Promise<Answered> {
  if (thrown instanceof Refusal) return { problem: problemOfError(thrown, thrown.status), headers: thrown.headers }
  if (isExplained(thrown)) return { problem: problemOfError(thrown, statusOf(thrown.code)), headers: {} }
  const explained = await explainDatabaseError(thrown, databaseUrl).catch(() => thrown)
  if (isExplained(explained)) {
    return {
      problem: problemOfError(explained, statusOf(explained.code)),
      headers: { 'Retry-After': '2' },
      fault: thrown,
    }
  }
  return { problem: problemOfError(internal, 500), headers: {}, fault: thrown }
}

function statusOf(code: string): number {
  return statuses[code] ?? (/^(DATABASE|SCHEMA|PROGRAM)_/.test(code) ? 503 : 400)
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
