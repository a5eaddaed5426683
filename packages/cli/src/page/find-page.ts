/**
 * Finds a page that answers, among the live nodes of this database. A page gets the token of this machine only if it
 * listens on this machine and accepts the token.
 */
import { existsSync } from 'node:fs'
import { ExplainedError } from '@q/schema'
import { tokenPlace } from '@q/server/secrets'
import type { LiveReplica } from '@q/store'

export interface FoundPage {
  readonly node: string
  readonly url: string
  /** Undefined: this machine has no token that the page accepts. */
  readonly token?: string
}

const patienceMs = 3_000

export async function findPage(nodes: readonly LiveReplica[], env: NodeJS.ProcessEnv): Promise<FoundPage> {
  const pages = nodes.flatMap(({ name, endpoint }) => (endpoint === null ? [] : [{ node: name, url: endpoint }]))
  const local = pages.filter(({ url }) => isLoopback(url))
  const token = await ownToken(env)
  for (const page of local) {
    const status = await ask(`${page.url}/api/session`, token)
    if (status === 200 && token !== undefined) return { ...page, token }
  }
  for (const page of pages) if ((await ask(`${page.url}/healthz`)) === 200) return page
  throw pageNotFound(pages.length, nodes.length)
}

function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(URL.parse(url)?.hostname ?? '')
}

async function ownToken(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { readOrMakeToken } = await import('@q/server')
  const file = tokenPlace(env)
  return existsSync(file) ? readOrMakeToken(file) : undefined
}

/** The status of the answer; undefined if there is none. */
async function ask(url: string, token?: string): Promise<number | undefined> {
  try {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const answer = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(patienceMs) })
    await answer.body?.cancel()
    return answer.status
  } catch {
    return undefined
  }
}

function pageNotFound(pages: number, nodes: number): ExplainedError {
  const why =
    nodes === 0
      ? 'No replica is alive.'
      : pages === 0
        ? 'No live replica serves a page (Q_HTTP=off).'
        : 'Live replicas serve a page, but none of them can be reached from here.'
  return new ExplainedError({
    code: 'PAGE_NOT_FOUND',
    what: 'No page answers.',
    why,
    fix: 'Serve one here: q serve --open',
  })
}
