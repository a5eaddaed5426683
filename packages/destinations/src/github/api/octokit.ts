/**
 * Sets up Octokit for a sender; no other file imports it. Octokit repeats a request after a server error or without an
 * answer, unless the request says that it must not be repeated. It does not wait for rate limits: the outbox does,
 * without holding a lease.
 */
import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'

export type { Octokit } from '@octokit/core'

export interface OctokitPorts {
  readonly apiUrl: string
  readonly token: string
  /** Aborts requests. */
  readonly signal: AbortSignal
  readonly warn: (sentence: string) => void
  /** The base of the pauses between two tries of a request. */
  readonly retryUnitMs: number
}

const requestMsMax = 5000
const repeatsMax = 1
const statusesWithoutRepeat = [400, 401, 403, 404, 409, 410, 422, 429, 451]

const OctokitWithPlugins = Octokit.plugin(retry, throttling)

/** The write limit has already paced each request, for all replicas together. */
const noPacing = { key: () => ({ schedule: async (_options: unknown, job: () => Promise<unknown>) => await job() }) }

export function octokitFor({ apiUrl, token, signal, warn, retryUnitMs }: OctokitPorts): Octokit {
  return new OctokitWithPlugins({
    auth: token,
    baseUrl: apiUrl.replace(/\/+$/, ''),
    userAgent: 'q-destinations',
    log: { debug: () => {}, info: () => {}, warn, error: warn },
    request: {
      // A redirect leads to a repository that is not on the list of allowed ones.
      redirect: 'manual',
      fetch: async (url: string, init: RequestInit) =>
        await fetch(url, { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]) }),
    },
    retry: { doNotRetry: statusesWithoutRepeat, retries: repeatsMax, retryAfterBaseValue: retryUnitMs },
    throttle: {
      write: noPacing as never,
      notifications: noPacing as never,
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false,
    },
  })
}
