/** Sends one request to GitHub. A write is paced first; an error names the action that failed. */
import { type ApiError, undeliveredBy } from './answers.ts'
import type { SenderState } from '../../sender.ts'
import type { Repository } from '../issue.ts'
import { NotDelivered } from './not-delivered.ts'
import { octokitFor, type OctokitPorts } from './octokit.ts'
import { recordRateLimit } from './rate-limit.ts'

export interface RequestPorts extends OctokitPorts {
  readonly nowMs: () => number
  readonly state: SenderState
  /** Called before each write. */
  readonly beforeWrite: (repository: Repository) => Promise<void>
}

export interface GithubRequest {
  /** The action for error texts: `edit comment 7 of acme/shop#12`. */
  readonly action: string
  readonly repository: Repository
  /** The route below the repository: `PATCH /issues/comments/{id}`. */
  readonly route: string
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Whether an error means that there was nothing to do. */
  readonly nothingToDo?: (error: ApiError) => boolean
}

export interface GithubResponse {
  readonly data: unknown
  readonly link: string
}

/** Resolves with undefined if there was nothing to do. */
export type SendRequest = (request: GithubRequest) => Promise<GithubResponse | undefined>

export function requestSender(ports: RequestPorts): SendRequest {
  const octokit = octokitFor(ports)
  return async ({ action, repository: { owner, repo }, route, parameters, nothingToDo }) => {
    const [method = '', path = ''] = route.split(' ')
    if (method !== 'GET') await ports.beforeWrite({ owner, repo })
    try {
      const { status, data, headers } = await octokit.request(`${method} /repos/{owner}/{repo}${path}`, {
        owner,
        repo,
        ...parameters,
        // A repeated POST could write a second comment: GitHub may have stored the first without an answer.
        ...(method === 'POST' ? { request: { retries: 0 } } : {}),
      })
      if (status < 300) return { data, link: headers.link ?? '' }
      throw Object.assign(new Error('redirect'), { status, response: { headers: {} } })
    } catch (error) {
      if (!isApiError(error)) throw error
      if (error.response !== undefined && nothingToDo?.(error) === true) return undefined
      const undelivered = undeliveredBy(error, { action, token: ports.token, nowMs: ports.nowMs() })
      await recordRateLimit(ports, undelivered)
      throw new NotDelivered(undelivered, { blocksOthers: undelivered.kind === 'failed' })
    }
  }
}

function isApiError(error: unknown): error is ApiError & Error {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
}
