/** The arguments and results of a handler. Handlers do not depend on HTTP; types require one for every route. */
import type { z } from 'zod'
import type { ApiKey, ApiRoutes } from '../api/routes.ts'
import type { ParamsOf } from '../api/route.ts'
import type { Identity } from '../auth/identify.ts'

type QueryOf<Key extends ApiKey> = ApiRoutes[Key] extends { query: infer Q extends z.ZodType } ? z.output<Q> : object
type BodyOf<Key extends ApiKey> = ApiRoutes[Key] extends { body: infer B extends z.ZodType } ? z.output<B> : object

/** The entry for the audit log; a handler may add details. */
export interface AuditNote {
  subject: string
  detail: unknown
  answer: string
}

export interface RouteCall<Key extends ApiKey> {
  readonly params: Readonly<Record<ParamsOf<Key>, string>>
  readonly query: QueryOf<Key>
  readonly body: BodyOf<Key>
  readonly who: Identity
  readonly headers: Headers
  readonly note: AuditNote
  /** Binds cursors to this list and its filter. */
  readonly cursors: Cursors
}

export interface Cursors {
  /** Returns the store's cursor from a client's; refuses a cursor of another list. */
  open(cursor: string | undefined): { readonly cursor?: string }
  /** Returns the cursor for a client. */
  seal(next: string | undefined): { readonly next?: string }
}

/** A value that is serialised to the JSON of `T`: times may be dates. */
export type Sent<T> = T extends string
  ? T | Date
  : T extends readonly (infer Item)[]
    ? readonly Sent<Item>[]
    : T extends object
      ? { readonly [Member in keyof T]: Sent<T[Member]> }
      : T

type Answered<Key extends ApiKey> = ApiRoutes[Key]['answer'] extends infer A extends z.ZodType
  ? Sent<z.input<A>>
  : string

/** An answer with its own headers or status. */
export class Reply<Data> {
  readonly data: Data
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(data: Data, extra: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }) {
    this.data = data
    this.status = extra.status
    this.headers = extra.headers ?? {}
  }
}

export type Handler<Key extends ApiKey> = (call: RouteCall<Key>) => Promise<Answered<Key> | Reply<Answered<Key>>>

/** Excludes routes that need the connection itself, and routes whose answer is not JSON (app.ts). */
export type HandledKey = Exclude<
  ApiKey,
  `${string} /api/session` | 'GET /api/events' | 'GET /api/openapi.json' | 'GET /metrics'
>
export type Handlers<Keys extends ApiKey = HandledKey> = { readonly [Key in Keys]: Handler<Key> }
