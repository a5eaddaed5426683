/**
 * The contract of a route: its scope, its input, its answer. Path and method are its key in the table
 * (routes.ts): `GET /api/nodes/{id}`. Handlers, the OpenAPI document, the table of rights and the typed client all derive from it.
 */
import type { z } from 'zod'

/** `open`: no token is required. auth/scopes.ts defines which scope includes which. */
export const scopes = ['open', 'read', 'enqueue', 'work', 'admin'] as const
export type Scope = (typeof scopes)[number]

export interface Route {
  /** The least scope that is required. */
  readonly scope: Scope
  readonly summary: string
  /**
   * The name of the action in the audit log. Every route that changes something has one, except those of workers: runs
   * record what workers do.
   */
  readonly action?: string
  /** Members of the path; a member without a schema is any text of 1 to 200 characters. */
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  /** JSON; a request without a body counts as `{}`. */
  readonly body?: z.ZodType
  /** The status of a success; default: 200. */
  readonly status?: 200 | 201 | 202
  /**
   * The answer on success: a schema for JSON; `text`: JSON text as stored; `stream`: server-sent events; `metrics`:
   * Prometheus text.
   */
  readonly answer: z.ZodType | 'text' | 'stream' | 'metrics'
  /** Statuses of problems beyond those that every route can have. */
  readonly problems?: readonly (404 | 409 | 422)[]
}

export type RouteKey = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`
export type RouteTable = Readonly<Record<RouteKey, Route>>

/** Keeps the literal types of a table. */
export function routes<const Table extends RouteTable>(table: Table): Table {
  return table
}

/** Names of the members of a path. */
export type ParamsOf<Key extends string> = Key extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never
