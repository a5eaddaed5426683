/**
 * A proxy in front of PostgreSQL that counts round trips: each Sync or simple query that a client sends. It costs time, so
 * a sample that uses it measures nothing else.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface CountingProxy extends AsyncDisposable {
  /** The given URL, by way of this proxy. */
  readonly url: string
  count(): number
}

export async function startCountingProxy(url: string): Promise<CountingProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const counted = messageCounter()
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (chunk) => {
      count += counted(chunk)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => client.write(chunk))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    count: () => count,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const sync = 'S'.charCodeAt(0)
const query = 'Q'.charCodeAt(0)
const protocolVersion3 = 196_608

/** Returns how many round trips each further chunk of one connection asks for. Messages may be cut anywhere. */
export function messageCounter(): (chunk: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0)
  let isStarting = true
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let asked = 0
    for (;;) {
      // A first message has no type.
      const lengthAt = isStarting ? 0 : 1
      if (rest.length < lengthAt + 4) return asked
      const end = lengthAt + rest.readInt32BE(lengthAt)
      if (rest.length < end) return asked
      if (!isStarting && (rest[0] === sync || rest[0] === query)) asked++
      if (isStarting && end >= 8 && rest.readInt32BE(4) === protocolVersion3) isStarting = false
      rest = rest.subarray(end)
    }
  }
}
