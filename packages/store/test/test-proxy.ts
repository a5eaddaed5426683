/** The sockets of a proxy between a program and its database, which it closes at the end of the test. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface TestProxy {
  /** The URL of the same database through the proxy. */
  readonly url: string
  /** The open sockets to both sides. */
  readonly sockets: ReadonlySet<Socket>
  /** Breaks every connection, and refuses new ones. */
  close(): void
}

export interface ProxyEnds {
  /** Opens a connection to the database. */
  connect(): Socket
  /** Closes the socket at the end. */
  keep(socket: Socket): Socket
}

/** Calls `onClient` for each connection of the program; what passes between the two sides is up to it. */
export async function testProxy(
  databaseUrl: string,
  onClient: (client: Socket, ends: ProxyEnds) => void,
): Promise<TestProxy> {
  const { hostname: host, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const connect = () => keep(createConnection({ host, port: Number(port) }))
  const server = createServer((client) => onClient(keep(client), { connect, keep }))
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(close)
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, sockets, close }
}

/** Destroys each of two sockets when the other one closes. */
export function closeTogether(one: Socket, other: Socket): void {
  one.on('close', () => other.destroy())
  other.on('close', () => one.destroy())
}
