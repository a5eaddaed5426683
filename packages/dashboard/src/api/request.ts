/** Every request of the page to its server. It reports to the connection whether the server and its database answer. */
import { connection } from '../live/connection.ts'
import { type RequestProblem, isDatabaseAway, problemOfResponse, unreachable } from './problem.ts'
import { storedProof } from './proof.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Options {
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** `path` begins after `/api`. Rejects with an ApiProblem. */
export async function request<T>(method: Method, path: string, { body, signal }: Options = {}): Promise<T> {
  const response = await send(method, path, body, signal)
  const subject = path.split('?')[0] ?? path
  if (!response.ok) throw await refused(response, method === 'GET' ? subject : undefined)
  if (path !== '/session') connection.answered()
  if (method === 'GET') connection.becameFresh(subject)
  if (response.status === 204) return undefined as T
  return (await response.json()) as T
}

/** With the proof and, for events, the answer as a stream. */
export function headers(): Record<string, string> {
  return { 'Q-Proof': storedProof() ?? '' }
}

async function send(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(`/api${path}`, {
      method,
      credentials: 'same-origin',
      headers: { ...headers(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    const problem = unreachable(error)
    connection.lost('server', problem.why ?? '', null)
    throw problem
  }
}

/** `subject`: what could not be read; undefined for an action, whose dialog shows the problem. */
async function refused(response: Response, subject: string | undefined): Promise<RequestProblem> {
  const problem = await problemOfResponse(response)
  const { status, code, since } = problem
  const why = problem.why ?? problem.title
  if (status === 401) connection.signedOut()
  if (isDatabaseAway(code)) connection.lost('database', why, since)
  else if (subject !== undefined && status >= 500) connection.becameOld(subject, { name: nameOf(subject), why, since })
  return problem
}

/** `/queues/media` as `queues media`: one name for what a request and the stream read. */
function nameOf(path: string): string {
  return decodeURIComponent(path.slice(1).replaceAll('/', ' '))
}
