/** A refused request gets its answer even if its body is large and arrives slowly: nothing resets the connection before. */
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { serverScene } from './scene.ts'

const scene = await serverScene()
const readOnly = await serverScene({ readOnly: true })
afterAll(() => Promise.all([scene.close(), readOnly.close()]))
const { tokens } = scene

const half = 'a'.repeat(640 * 1_024)
const sized = `Content-Length: ${half.length * 2}`
const json = 'Content-Type: application/json'
const bearer = (token: string) => `Authorization: Bearer ${token}`

interface Upload {
  readonly port?: number
  readonly path?: string
  readonly headers: readonly string[]
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The server's side of the first request of the connection from this port. */
function exchangeOf(clientPort: number): Promise<Exchange> {
  const started = channel('http.server.request.start')
  const { promise, resolve } = Promise.withResolvers<Exchange>()
  const look = (message: unknown) => {
    const exchange = message as Exchange
    if (exchange.request.socket.remotePort === clientPort) resolve(exchange)
  }
  started.subscribe(look)
  return promise.finally(() => started.unsubscribe(look))
}

/**
 * Sends half of a body, the rest once the server reads and ignores the body, and reads only after the server has
 * responded. `early` in the answer: the server responded before it had read the body. It would then soon reset the
 * connection of a slower client, which loses the response.
 */
async function upload({ port = scene.server.port, path = '/api/runs', headers }: Upload) {
  const isChunked = headers.includes('Transfer-Encoding: chunked')
  const part = isChunked ? `${half.length.toString(16)}\r\n${half}\r\n` : half
  const socket = connect(port, '127.0.0.1').pause()
  let problem = 'closed'
  const closed = new Promise((resolve) =>
    socket.on('error', (error) => (problem = String(error))).once('close', resolve),
  )
  await once(socket, 'connect')
  const exchange = exchangeOf((socket.address() as AddressInfo).port)
  socket.write([`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers, '', part].join('\r\n'))
  const { request, response } = await exchange
  const responded = once(response, 'finish').then(() => (request.complete ? '' : ' early'))
  await Promise.race([once(request, 'resume'), responded])
  socket.write(`${part}${isChunked ? '0\r\n\r\n' : ''}`)
  const when = await responded
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => {
    text += more
    // Kept alive: nothing follows the JSON of the answer.
    if (text.endsWith('}')) socket.destroy()
  })
  socket.resume()
  await closed
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? problem
  return `${status} ${/"code":"(\w+)"/.exec(text)?.[1]}${when}`
}

const admin = [json, bearer(tokens.admin)]
const cases: Readonly<Record<string, readonly [string, Upload]>> = {
  'a body whose length is named': ['413 BODY_TOO_LARGE', { headers: [sized, ...admin] }],
  'a body whose length is not named': ['413 BODY_TOO_LARGE', { headers: ['Transfer-Encoding: chunked', ...admin] }],
  'a login': ['413 BODY_TOO_LARGE', { path: '/api/session', headers: [sized, json] }],
  'no token': ['401 UNAUTHORIZED', { headers: [sized, json] }],
  'another site': ['403 CROSS_SITE', { headers: [sized, ...admin, 'Origin: http://evil'] }],
  'an unknown route': ['404 NOT_FOUND', { path: '/api/nothing', headers: [sized, ...admin] }],
  'the page': ['405 METHOD_NOT_ALLOWED', { path: '/', headers: [sized, ...admin] }],
  'a smaller scope': ['403 SCOPE_TOO_SMALL', { headers: [sized, json, bearer(tokens.read)] }],
  'a server that only reads': [
    '403 SERVER_READ_ONLY',
    { port: readOnly.server.port, headers: [sized, json, bearer(readOnly.tokens.admin)] },
  ],
}

test('every refusal of a large body arrives, on connections that are kept and that are closed', async () => {
  const sent = Object.entries(cases).flatMap(([name, [expected, one]]) =>
    ['keep-alive', 'close'].map(async (connection) => {
      const answer = await upload({ ...one, headers: [...one.headers, `Connection: ${connection}`] })
      return { name, connection, answer, expected }
    }),
  )
  for (const { name, connection, answer, expected } of await Promise.all(sent))
    expect.soft({ name, connection, answer }).toEqual({ name, connection, answer: expected })
})

test('a body without end is not read forever', async () => {
  const socket = connect(scene.server.port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
  const head = [
    'POST /api/runs HTTP/1.1',
    `Host: 127.0.0.1:${scene.server.port}`,
    `Content-Length: ${2 ** 40}`,
    ...admin,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => (text += more))
  const more = () => {
    while (!socket.destroyed && socket.write(half));
  }
  socket.on('drain', more)
  more()
  await closed
  expect(text === '' || text.startsWith('HTTP/1.1 413')).toBe(true)
  expect(socket.bytesWritten).toBeLessThan(2 ** 30)
  expect((await scene.ask('GET', '/api/tasks', { token: tokens.read })).status).toBe(200)
})
