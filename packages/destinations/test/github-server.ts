/**
 * A stand-in for GitHub's REST API: a real HTTP server on loopback with repositories, issues, comments, labels and assignees.
 * Tests plan faults: an answer instead of the real one, or a connection that closes before or after the request took effect.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { answerRequest, type ApiRequest, type Answer, type StoredComment, type StoredIssue } from './github-api.ts'

export interface Fault {
  /** Matched with `POST /repos/acme/shop/issues/1/comments`. */
  readonly on: RegExp
  readonly answer: Answer | 'close' | 'close after storing'
  /** How many requests it hits. Default: 1. */
  readonly times?: number
}

export interface GithubServer extends AsyncDisposable {
  readonly url: string
  readonly token: string
  /** Every request as `METHOD /path?query`, in order. */
  readonly requests: readonly string[]
  /** The issue of a repository, created at its first use. */
  issue(repository: string, number: number): StoredIssue
  /** Writes a comment as a person would. */
  comment(repository: string, number: number, body: string): StoredComment
  /** Deletes a comment as a person would. */
  deleteComment(id: number): void
  plan(fault: Fault): void
  /** From now on it answers 403 to every request, as GitHub does above its rate limit, until the time is over. */
  limitRate(forMs: number): void
  /** Whether planned faults are left. */
  readonly faultsLeft: boolean
}

export async function startGithubServer({ repositories }: { repositories: readonly string[] }): Promise<GithubServer> {
  const token = `ghp_${'canary'.repeat(6)}`
  const requests: string[] = []
  const faults: { fault: Fault; left: number }[] = []
  const issues = new Map<string, StoredIssue>()
  let limitedUntil = 0
  const github = { token, repositories, issues, nextId: 1000 }
  const issue = (repository: string, number: number): StoredIssue => {
    const key = `${repository.toLowerCase()}#${number}`
    const found = issues.get(key) ?? { number, comments: [], labels: [], assignees: [] }
    issues.set(key, found)
    return found
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://github.test')
    const line = `${request.method} ${url.pathname}${url.search}`
    requests.push(line)
    if (Date.now() < limitedUntil) return reply(response, rateLimited(limitedUntil))
    const planned = faults.find(({ fault, left }) => left > 0 && fault.on.test(line))
    if (planned !== undefined) planned.left--
    const instead = planned?.fault.answer
    if (instead === 'close') return void request.socket.destroy()
    const asked: ApiRequest = {
      method: request.method ?? '',
      url,
      authorization: request.headers.authorization,
      body: await bodyOf(request),
    }
    if (typeof instead === 'object') return reply(response, instead)
    const answer = answerRequest(github, asked)
    if (instead === 'close after storing') return void request.socket.destroy()
    reply(response, answer)
  }

  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    requests,
    issue,
    comment(repository, number, body) {
      const comment = { id: github.nextId++, body, user: 'person', createdAt: new Date(), updatedAt: new Date() }
      issue(repository, number).comments.push(comment)
      return comment
    },
    deleteComment(id) {
      for (const { comments } of issues.values()) {
        const index = comments.findIndex((comment) => comment.id === id)
        if (index >= 0) comments.splice(index, 1)
      }
    },
    limitRate(forMs) {
      // The header has whole seconds.
      limitedUntil = Math.ceil((Date.now() + forMs) / 1000) * 1000
    },
    plan: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    get faultsLeft() {
      return faults.some(({ left }) => left > 0)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function rateLimited(until: number): Answer {
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(until / 1000) }
  return { status: 403, headers, body: { message: 'API rate limit exceeded' } }
}

function reply(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? undefined : JSON.parse(text)
}
