/** A request as it is: any Host, any path, any cookie. A browser or `fetch` would normalise or refuse them. */
import { request } from 'node:http'
import { connect } from 'node:net'

export interface RawRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly code: string | undefined
}

export async function rawRequest(
  port: number,
  { method = 'GET', path, headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const sent = request(
    { host: '127.0.0.1', port, method, path, headers: { Connection: 'close', ...headers } },
    (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, code: codeIn(text) }),
      )
    },
  )
  sent.on('error', reject).end(body)
  return promise
}

/** What the server answers to these bytes, until it closes the connection. */
export async function rawBytes(port: number, bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => (text += part))
  socket.on('close', () => resolve(text)).on('error', () => {})
  socket.write(bytes)
  return promise
}

function codeIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined
  const code: unknown = Reflect.get(JSON.parse(text) as object, 'code')
  return typeof code === 'string' ? code : undefined
}
