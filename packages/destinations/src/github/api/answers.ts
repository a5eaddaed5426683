/**
 * Decides from an API error whether a report is worth another try. A token that GitHub does not accept may be replaced
 * soon, or another replica may have the new one already. The texts name the action that failed and the fix; a token that
 * an error repeats is removed.
 */
import { oneLineWithin } from '../text.ts'
import type { Undelivered } from './not-delivered.ts'

/** The members of an Octokit error that q reads. `response` is missing if the request got no answer. */
export interface ApiError {
  readonly status: number
  readonly message: string
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>> } | undefined
}

export interface Tried {
  /** `add the label status:queued to acme/shop#12` */
  readonly action: string
  readonly token: string
  readonly nowMs: number
}

const messageLengthMax = 300
const retryAfterMsUnknown = 60_000
const retryAfterMsMax = 3_660_000

const adviceByStatus: Readonly<Record<number, string>> = {
  401: 'The token is not valid: replace it.',
  403: 'The token lacks the right: give it access to the repository and write access to issues.',
  404: 'There is no such repository or issue, or the token has no access to it.',
  410: 'The issue was deleted, or the repository has no issues.',
  422: 'GitHub does not accept the content.',
}

export function undeliveredBy(error: ApiError, tried: Tried): Undelivered {
  const { status, response } = error
  const message = oneLineWithin(error.message.replaceAll(tried.token, '[token]'), messageLengthMax)
  if (response === undefined) return { kind: 'failed', error: `Cannot ${tried.action}: no answer (${message}).` }
  const text = `Cannot ${tried.action}: GitHub answered ${status} (${message}).`
  const retryAfterMs = rateLimitedForMs(error, tried.nowMs)
  if (retryAfterMs !== undefined)
    return { kind: 'failed', error: `${text} It limits the rate of requests.`, retryAfterMs }
  if (status >= 500 || status === 408 || status === 409) return { kind: 'failed', error: text }
  if (status < 400)
    return { kind: 'rejected', error: `${text} The repository moved: write its new name into the settings.` }
  const kind = status === 401 ? 'failed' : 'rejected'
  return { kind, error: `${text} ${adviceByStatus[status] ?? ''}`.trimEnd() }
}

/** How long GitHub will refuse requests. Undefined: it refused this one for another reason. */
function rateLimitedForMs({ status, message, response }: ApiError, nowMs: number): number | undefined {
  if (status !== 429 && status !== 403) return undefined
  const header = (name: string): number => Number(response?.headers[name] ?? Number.NaN)
  const secondsLeft = header('retry-after')
  const remaining = header('x-ratelimit-remaining')
  if (status === 403 && !(secondsLeft >= 0) && remaining !== 0 && !/rate limit|abuse/i.test(message)) return undefined
  const untilMs = secondsLeft >= 0 ? nowMs + secondsLeft * 1000 : header('x-ratelimit-reset') * 1000 + 1000
  const waitMs = Number.isFinite(untilMs) ? untilMs - nowMs : retryAfterMsUnknown
  return Math.min(Math.max(waitMs, 1000), retryAfterMsMax)
}
