/** Creates responses: JSON with an ETag, stored JSON text, and problems. */
import { createHash } from 'node:crypto'
import type { Answered } from './problem-of.ts'

const noStore = { 'Cache-Control': 'no-store' }

export function jsonAnswer(
  request: Request,
  data: unknown,
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> },
): Response {
  const text = JSON.stringify(data)
  const all = { ...noStore, 'Content-Type': 'application/json; charset=utf-8', ...headers }
  if (request.method !== 'GET' || status !== 200) return new Response(text, { status, headers: all })
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  const isSame = request.headers.get('If-None-Match') === tag
  return new Response(isSame ? null : text, { status: isSame ? 304 : 200, headers: { ...all, ETag: tag } })
}

export function textAnswer(text: string): Response {
  return new Response(text, { headers: { ...noStore, 'Content-Type': 'application/json; charset=utf-8' } })
}

export function problemAnswer({ problem, headers }: Answered): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...noStore, 'Content-Type': 'application/problem+json; charset=utf-8', ...headers },
  })
}
