/** The error of a refused request, with the status of its response. */
import { ExplainedError } from '@q/schema'
import type { Problem } from '../api/problem.ts'

interface RefusalText {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
  readonly cause?: unknown
}

export class Refusal extends ExplainedError {
  readonly status: number
  readonly more: Partial<Pick<Problem, 'errors' | 'state' | 'since'>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    text: RefusalText,
    extra: { readonly more?: Refusal['more']; readonly headers?: Refusal['headers'] } = {},
  ) {
    super(text)
    this.status = status
    this.more = extra.more ?? {}
    this.headers = extra.headers ?? {}
  }
}

export function notFound(what: string): Refusal {
  return new Refusal(404, {
    code: 'NOT_FOUND',
    what,
    why: 'It does not exist, or it has been removed.',
    fix: 'Check the id or name; the list of its kind shows those that exist.',
  })
}

/** The present state of the subject does not allow the action. */
export function conflict(what: string, state: string, why: string): Refusal {
  return new Refusal(
    409,
    { code: 'CONFLICT', what, why, fix: 'Look at its present state, then decide again.' },
    { more: { state } },
  )
}

export function wrongParameters(errors: readonly { readonly at: string; readonly problem: string }[]): Refusal {
  return new Refusal(
    400,
    {
      code: 'PARAMETER_INVALID',
      what: 'The request is wrong; nothing was done.',
      why: `${errors.map(({ at, problem }) => `${at}: ${problem}`).join('; ')}.`,
      fix: 'Correct the members named above; GET /api/openapi.json describes them.',
    },
    { more: { errors: [...errors] } },
  )
}

export function tooMany(why: string, afterS: number): Refusal {
  return new Refusal(
    429,
    { code: 'TOO_MANY_REQUESTS', what: 'Too many requests.', why, fix: `Try again in ${afterS} s.` },
    { headers: { 'Retry-After': String(afterS) } },
  )
}
