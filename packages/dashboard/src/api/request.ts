/** Every request of the page to its server. It reports to the connection whether the server and its database answer. */
import { connection } from '../live/connection.ts'
import { type ApiProblem, problemOf, unreachable } from './problem.ts'
import { storedProof } from './proof.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Options {
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** `path` begins after `/api`. Rejects with an ApiProblem. */
export async function request<T>(method: Method, path: string, { body, signal }: Options = {}): Promise<T> {
  const response = await send(method, path, body, signal)
  if (!response.ok) throw await refused(response)
  if (path !== '/session') connection.answered()
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

async function refused(response: Response): Promise<ApiProblem> {
  const problem = await problemOf(response)
  if (problem.status === 401) connection.signedOut()
  if (problem.status === 503) connection.lost('database', problem.why ?? problem.title, problem.since)
  return problem
}
