/**
 * The typed client of the API, for browsers and programs: `api('GET /api/nodes/{id}', { params: { id } })`. Its types come from the
 * table of routes; at run time it knows nothing of it, so that a page does not carry the schemas.
 */
import type { z } from 'zod'
import type { ApiKey, ApiRoutes } from '../api/routes.ts'
import type { Problem } from '../api/problem.ts'
import type { ParamsOf } from '../api/route.ts'

export interface ApiOptions {
  /** The address of the server; '' in the server's own page. */
  readonly base?: string
  /** Called for each request: returns `{ 'Q-Proof': … }` in a page, `{ Authorization: 'Bearer …' }` in a program. */
  readonly headers?: () => Readonly<Record<string, string>>
  readonly fetch?: typeof globalThis.fetch
}

type RouteOf<Key extends ApiKey> = ApiRoutes[Key]
type QueryOf<Key extends ApiKey> = RouteOf<Key> extends { query: infer Q extends z.ZodType } ? z.input<Q> : never
type BodyOf<Key extends ApiKey> = RouteOf<Key> extends { body: infer B extends z.ZodType } ? z.input<B> : never

/** The answer of a route. */
export type AnswerOf<Key extends ApiKey> = RouteOf<Key>['answer'] extends infer A extends z.ZodType
  ? z.output<A>
  : string

type Member<Name extends string, Value> = [Value] extends [never]
  ? object
  : object extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value }

type Params<Key extends ApiKey> = [ParamsOf<Key>] extends [never]
  ? object
  : { readonly params: Readonly<Record<ParamsOf<Key>, string>> }

export type RequestOf<Key extends ApiKey> = Params<Key> &
  Member<'query', QueryOf<Key>> &
  Member<'body', BodyOf<Key>> & {
    readonly signal?: AbortSignal
    readonly headers?: Readonly<Record<string, string>>
  }

type RequestArguments<Key extends ApiKey> =
  object extends RequestOf<Key> ? [request?: RequestOf<Key>] : [request: RequestOf<Key>]

/** Streams are opened with `openEvents`; metrics are for scrapers. */
type CallKey = Exclude<ApiKey, 'GET /api/events' | 'GET /metrics'>

export type Api = <Key extends CallKey>(key: Key, ...request: RequestArguments<Key>) => Promise<AnswerOf<Key>>

/**
 * The error of a refused request, with the server's problem; without one if something else answered, such as a proxy.
 */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly problem: Problem | undefined

  constructor(status: number, problem: Problem | undefined) {
    super(problem?.title ?? `The server answered ${status}.`)
    this.status = status
    this.problem = problem
  }
}

type QueryValue = string | number | boolean | undefined | readonly (string | number)[]

interface AnyRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

export function createApi(options: ApiOptions = {}): Api {
  const { base = '', headers = () => ({}), fetch = globalThis.fetch.bind(globalThis) } = options
  async function call(key: string, request: AnyRequest = {}): Promise<unknown> {
    const [method = 'GET', path = '/'] = key.split(' ')
    const response = await fetch(base + addressOf(path, request), {
      method,
      headers: {
        ...headers(),
        ...request.headers,
        ...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    })
    const text = await response.text()
    if (!response.ok) throw new ApiProblem(response.status, problemIn(response, text))
    return /\/(payload|result)$/.test(path) ? text : (JSON.parse(text) as unknown)
  }
  return call as Api
}

export function addressOf(path: string, { params = {}, query = {} }: Pick<AnyRequest, 'params' | 'query'>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one))
  }
  return search.size === 0 ? filled : `${filled}?${search.toString()}`
}

export function problemIn(response: Response, text: string): Problem | undefined {
  if (!(response.headers.get('Content-Type') ?? '').startsWith('application/problem+json')) return undefined
  return JSON.parse(text) as Problem
}
