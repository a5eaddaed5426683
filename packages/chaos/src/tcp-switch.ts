/** One address on loopback for the current primary, like a virtual address or a load balancer. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'

export interface TcpSwitch {
  /** The URL of the current server, with the address of the switch. */
  readonly url: string
  point(url: string): void
  close(): void
}

export async function startTcpSwitch(url: string): Promise<TcpSwitch> {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const listener = createServer((socket) => {
    const upstream = keep(createConnection({ host: target.hostname, port: Number(target.port) }))
    keep(socket).on('close', () => upstream.destroy())
    upstream.on('close', () => socket.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const own = new URL(url)
  own.hostname = '127.0.0.1'
  own.port = String((listener.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: own.href,
    point(to) {
      target = new URL(to)
      cut()
    },
    close() {
      cut()
      listener.close()
    },
  }
}
