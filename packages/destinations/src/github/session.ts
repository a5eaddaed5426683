/**
 * Dependencies of the steps of one `send`. The secrets are read for each `send`, because they may have been rotated.
 */
import { readSecret } from '../secret.ts'
import type { SenderContext, SenderState } from '../sender.ts'
import { boundedState } from './bounded-state.ts'
import { type GithubClient, githubClient } from './api/client.ts'
import { findIssue, type Issue, type Repository, repositoryName } from './issue.ts'
import { NotDelivered } from './api/not-delivered.ts'
import { type GithubSettings, isApiUrl } from './settings.ts'
import { workerNames } from './worker-names.ts'
import { type Urgency, writeLimit } from './api/write-limit.ts'

export interface GithubSession {
  readonly client: GithubClient
  readonly state: SenderState
  readonly settings: GithubSettings
  readonly nowMs: () => number
  readonly log: SenderContext['log']
  readonly workerName: (id: string) => string
  /** The issue of a run. Undefined: the run has none. Throws if it belongs to another repository. */
  readonly issueOf: (run: { readonly issue: string | null }) => Issue | undefined
  /** Whether it is too late to begin another write. */
  readonly isLate: () => boolean
  /** How long the write limit would delay this many writes. 0: not at all. */
  readonly writesWaitMs: (repository: Repository, writes: number, urgency: Urgency) => Promise<number>
}

/** Replaced in tests. */
export interface Pacing {
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly retryUnitMs: number
}

export interface Bounds {
  /** Aborts requests and pauses. */
  readonly signal: AbortSignal
  /** No write begins after this time. */
  readonly stopAtMs: number
}

export async function openGithubSession(
  { env, state, nowMs, log, name }: SenderContext,
  settings: GithubSettings,
  { pause, retryUnitMs, signal, stopAtMs }: Pacing & Bounds,
): Promise<GithubSession> {
  const token = await readSecret({ variable: settings.tokenVariable, file: settings.tokenFile }, env)
  if ('missing' in token) throw new NotDelivered({ kind: 'failed', error: `There is no token. ${token.missing}` })
  const apiUrl = settings.apiUrl ?? env('GITHUB_API_URL') ?? 'https://api.github.com'
  if (!isApiUrl(apiUrl)) throw new NotDelivered({ kind: 'rejected', error: 'GITHUB_API_URL is not an https address.' })
  const limit = writeLimit({ shared: state.shared, apiUrl, nowMs, pause: (ms) => pause(ms, signal) })
  const client = githubClient({
    apiUrl,
    token: token.value,
    signal,
    state,
    retryUnitMs,
    nowMs,
    beforeWrite: limit.next,
    warn: (sentence) => log('warn', { destination: name }, sentence),
  })
  return {
    client,
    state: boundedState(state),
    settings,
    nowMs,
    log,
    workerName: await workerNames(settings, env),
    isLate: () => nowMs() >= stopAtMs,
    writesWaitMs: limit.waitMs,
    issueOf({ issue }) {
      if (issue === null) return undefined
      const found = findIssue(issue, { repositories: settings.repositories, apiUrl })
      if ('refused' in found) throw new NotDelivered({ kind: 'rejected', error: found.refused })
      return found.issue
    },
  }
}

/** Throws unless the limit allows this many writes now. */
export async function requireWrites(
  session: GithubSession,
  issue: Issue,
  writes: number,
  urgency: Urgency,
): Promise<void> {
  const retryAfterMs = await session.writesWaitMs(issue, writes, urgency)
  if (retryAfterMs === 0) return
  const error = `The limit on writes to ${repositoryName(issue)} is reached.`
  throw new NotDelivered({ kind: 'postponed', error, retryAfterMs })
}
