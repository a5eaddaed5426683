/**
 * What can lie between a program and its server, on real sockets: a pooler that lends a backend per transaction, as pgbouncer
 * does in transaction mode, and a proxy that answers late, swallows messages of the server, or changes them.
 */
import type { Socket } from 'node:net'
import { Client } from 'pg'
import { closeTogether, testProxy, type ProxyEnds } from './test-proxy.ts'

/** Takes whole messages off the front of a stream: a type, a length that includes itself, and a body. */
function messageReader(onMessage: (type: string, whole: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const size = 1 + rest.readInt32BE(1)
      if (rest.length < size) return
      const whole = rest.subarray(0, size)
      rest = rest.subarray(size)
      onMessage(String.fromCodePoint(whole[0] ?? 0), whole)
    }
  }
}

export interface Meddling {
  /** How long each chunk of the server's answers is held back. */
  readonly delayMs?: number
  /** Types of messages of the server that never arrive. */
  readonly swallowed?: readonly string[]
  /** A text in answers of the server, and another one of the same length that arrives instead. */
  readonly replaced?: readonly [text: string, by: string]
}

/** The URL of the same database through the proxy. */
export async function meddlingProxy(databaseUrl: string, meddling: Meddling): Promise<string> {
  const { delayMs = 0, swallowed = [], replaced } = meddling
  const { url } = await testProxy(databaseUrl, (client, { connect }) => {
    const upstream = connect()
    const read = messageReader((type, whole) => {
      if (replaced !== undefined) replaceText(whole, replaced)
      if (!swallowed.includes(type)) client.write(whole)
    })
    upstream.on('data', (answer: Buffer) => {
      if (delayMs === 0) read(answer)
      else setTimeout(read, delayMs, answer)
    })
    client.on('data', (request) => upstream.write(request))
    closeTogether(client, upstream)
  })
  return url
}

function replaceText(message: Buffer, [text, by]: readonly [string, string]): void {
  for (let at = message.indexOf(text); at !== -1; at = message.indexOf(text, at + by.length)) message.write(by, at)
}

interface Backend {
  readonly socket: Socket
  client: Socket | undefined
  /** Requests without an answer. */
  open: number
}

/** The URL of the same database through the pooler. It takes every password, and hands out the backend that was used last. */
export async function transactionPooler(databaseUrl: string): Promise<string> {
  const idle: Backend[] = []
  const { url } = await testProxy(databaseUrl, (client, { keep }) => {
    let backend: Promise<Backend> | undefined
    const borrow = () => (backend ??= idle.length > 0 ? Promise.resolve(idle.pop()!) : openBackend(databaseUrl, keep))
    const forward = async (type: string, whole: Buffer) => {
      const own = await borrow()
      own.client = client
      if (type === 'Q' || type === 'S') own.open++
      own.socket.write(whole)
    }
    const read = messageReader((type, whole) => {
      if (type === 'X') return void client.end()
      void forward(type, whole)
    })
    const released = (own: Backend) => {
      own.client = undefined
      backend = undefined
      idle.push(own)
    }
    client.once('data', (startup: Buffer) => {
      greet(client)
      client.on('data', read)
      const rest = startup.subarray(startup.readInt32BE(0))
      if (rest.length > 0) read(rest)
    })
    client.on('release', released)
    // A transaction that was left open ends with its backend.
    client.on('close', () => void backend?.then((own) => own.socket.destroy()))
  })
  return url
}

/** As a pooler does, with a pid of its own. */
function greet(client: Socket): void {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5)
    head.write(type)
    head.writeInt32BE(4 + body.length, 1)
    client.write(Buffer.concat([head, body]))
  }
  message('R', Buffer.alloc(4))
  for (const setting of ['server_version\u000018.0', 'client_encoding\0UTF8', 'standard_conforming_strings\0on'])
    message('S', Buffer.from(`${setting}\0`))
  message('K', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1]))
  message('Z', Buffer.from('I'))
}

/** Logged in by pg, which then leaves its socket to us. */
async function openBackend(databaseUrl: string, keep: ProxyEnds['keep']): Promise<Backend> {
  const login = new Client({ connectionString: databaseUrl })
  await login.connect()
  const { stream } = (login as unknown as { connection: { stream: Socket } }).connection
  for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event)
  keep(stream)
  const backend: Backend = { socket: stream, client: undefined, open: 0 }
  const read = messageReader((type, whole) => {
    const { client } = backend
    client?.write(whole)
    if (type !== 'Z') return
    backend.open--
    const isInTransaction = String.fromCodePoint(whole[5] ?? 0) !== 'I'
    if (backend.open === 0 && !isInTransaction) client?.emit('release', backend)
  })
  stream.on('data', read)
  return backend
}
