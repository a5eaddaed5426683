/** A way to the database that can be closed: new connections are refused, open ones are cut. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface SwitchableProxy {
  /** The same database, by way of the proxy. */
  readonly url: string
  cut(): Promise<void>
  restore(): Promise<void>
  close(): Promise<void>
}

export async function proxyTo(databaseUrl: string): Promise<SwitchableProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let server = open(target, sockets)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const cut = async () => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: url.href,
    cut,
    async restore() {
      server = open(target, sockets)
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    close: cut,
  }
}

function open(target: URL, sockets: Set<Socket>): Server {
  return createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
}
