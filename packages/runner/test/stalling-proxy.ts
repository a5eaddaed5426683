/** Between a replica and its database: a network that can stop all traffic, with or without closing connections. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface StallingProxy {
  readonly url: string
  /** From now on nothing arrives, in either direction, and new connections are accepted and ignored. */
  stall(): void
  /** Nothing arrives on the connections of now, in either direction; new ones work. */
  halfOpen(): void
  /** Every connection is broken, and new ones are too. */
  cut(): void
  /** The same, as soon as an answer contains the text, which does not arrive. */
  cutAt(text: string): void
  restore(): void
}

export async function stallingProxy(databaseUrl: string): Promise<StallingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let stalled = false
  let broken = false
  let deadly: string | undefined
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((socket) => {
    keep(socket)
    if (broken) return void socket.destroy()
    if (stalled) return void socket.pause()
    const upstream = keep(createConnection({ host: target.hostname, port: Number(target.port) }))
    upstream.on('data', (answer: Buffer) => {
      if (deadly !== undefined && answer.includes(deadly)) cut()
    })
    socket.pipe(upstream).pipe(socket)
  })
  function cut(): void {
    broken = true
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cut,
    cutAt(text) {
      deadly = text
    },
    restore() {
      broken = false
    },
    halfOpen() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    stall() {
      stalled = true
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}
