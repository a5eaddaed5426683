/**
 * Sends one HTTP POST. Follows no redirect: a receiver must not forward signed reports to another address. Reads at
 * most the beginning of the answer. Resolves with the status, or with a sentence about a network error that names no
 * address.
 */
import { request as requestHttp, Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { request as requestHttps, Agent as HttpsAgent } from 'node:https'

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

export type PostAnswer =
  | { readonly status: number; readonly retryAfter: string | undefined; readonly text: string }
  | { readonly error: string }

export interface Poster {
  post(post: Post): Promise<PostAnswer>
  close(): void
}

const answerMax = 300

export function createPoster(socketsMax: number): Poster {
  const agents = { http: new HttpAgent(agentOptions(socketsMax)), https: new HttpsAgent(agentOptions(socketsMax)) }
  return {
    post({ url, headers, body, timeoutMs }) {
      const { promise, resolve } = Promise.withResolvers<PostAnswer>()
      const secure = url.startsWith('https:')
      const options = { method: 'POST', headers, signal: AbortSignal.timeout(timeoutMs) }
      const sent = secure
        ? requestHttps(url, { ...options, agent: agents.https })
        : requestHttp(url, { ...options, agent: agents.http })
      sent.on('response', (response) => void readAnswer(response).then(resolve))
      // No upgrade was asked for. Without this listener Node would end the request silently.
      sent.on('upgrade', ({ statusCode: status = 101 }, socket) => {
        socket.destroy()
        resolve({ status, retryAfter: undefined, text: '' })
      })
      sent.on('error', (error) => resolve({ error: sentenceOf(error, timeoutMs) }))
      sent.end(body)
      return promise
    },
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

function agentOptions(maxSockets: number) {
  return { keepAlive: true, maxSockets, timeout: 60_000 }
}

async function readAnswer(response: IncomingMessage): Promise<PostAnswer> {
  const answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }
  let text = ''
  try {
    response.setEncoding('utf8')
    for await (const part of response) {
      text += part as string
      if (text.length > answerMax) break
    }
  } catch {
    // The receiver has answered; only the rest of its text is lost.
  }
  return { ...answer, text: text.slice(0, answerMax) }
}

function sentenceOf(error: Error, timeoutMs: number): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return `It did not answer within ${timeoutMs} ms.`
  const code: unknown = Reflect.get(error, 'code')
  return `The connection failed (${typeof code === 'string' ? code : error.name}).`
}
