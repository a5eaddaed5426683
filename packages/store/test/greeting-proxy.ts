/** In front of a database: greets with the number of another backend, as a pooler does. Returns its URL. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** BackendKeyData: its type, its length, then the number of the backend. */
const greeting = Buffer.from([0x4b, 0, 0, 0, 12])

export async function greetingProxy(databaseUrl: string): Promise<string> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = createConnection({ host: target.hostname, port: Number(target.port) })
    for (const end of [socket, upstream]) sockets.add(end.on('error', () => {}))
    upstream.on('data', (answer: Buffer) => {
      const index = answer.indexOf(greeting)
      if (index !== -1) answer.writeInt32BE(1, index + greeting.length)
      socket.write(answer)
    })
    socket.pipe(upstream)
    upstream.on('close', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return url.href
}
