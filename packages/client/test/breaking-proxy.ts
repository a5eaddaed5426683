/** Between a client and its database: breaks the connection whose next statement contains a text, or all of them. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface BreakingProxy {
  readonly url: string
  /** Once: the statement does not arrive, and its connection breaks. */
  breakAt(text: string): void
  readonly broken: Promise<void>
  /** Breaks every connection, and refuses new ones. */
  close(): void
}

export async function breakingProxy(databaseUrl: string): Promise<BreakingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const { promise: broken, resolve } = Promise.withResolvers<void>()
  let deadly: string | undefined
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((socket) => {
    const upstream = keep(createConnection({ host: target.hostname, port: Number(target.port) }))
    keep(socket).on('data', (sent: Buffer) => {
      if (deadly === undefined || !sent.includes(deadly)) return void upstream.write(sent)
      deadly = undefined
      socket.destroy()
      upstream.destroy()
      resolve()
    })
    upstream.pipe(socket)
    socket.on('close', () => upstream.destroy())
    upstream.on('close', () => socket.destroy())
  })
  function close(): void {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(close)
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, broken, close, breakAt: (text) => (deadly = text) }
}
