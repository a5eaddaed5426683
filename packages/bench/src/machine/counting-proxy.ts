/**
 * A proxy in front of PostgreSQL that counts round trips: each Sync or simple query that a client sends. A Sync with nothing
 * to execute before it is a round trip without a transaction. The proxy costs time, so a sample that uses it measures
 * nothing else.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface CountingProxy extends AsyncDisposable {
  /** The given URL through this proxy. */
  readonly url: string
  count(): MessageCounts
}

export interface MessageCounts {
  readonly roundTrips: number
  readonly transactions: number
  /** Bytes in both directions. */
  readonly bytes: number
}

export async function startCountingProxy(url: string): Promise<CountingProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const counts = { roundTrips: 0, transactions: 0, bytes: 0 }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const countIn = messageCounter(counts)
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
      countIn(chunk)
      counts.bytes += chunk.length
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      counts.bytes += chunk.length
      client.write(chunk)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    count: () => ({ ...counts }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const [sync, query, execute] = Buffer.from('SQE')
const protocolVersion3 = 196_608

/** Counts in the chunks that one client sends. Messages may be cut anywhere. */
export function messageCounter(counts: { roundTrips: number; transactions: number }): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let isStarting = true
  let hasExecuted = false
  function countMessage(type: number | undefined): void {
    if (type === execute) hasExecuted = true
    if (type !== sync && type !== query) return
    counts.roundTrips++
    if (type === query || hasExecuted) counts.transactions++
    hasExecuted = false
  }
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      // A first message has no type.
      const lengthAt = isStarting ? 0 : 1
      if (rest.length < lengthAt + 4) return
      const end = lengthAt + rest.readInt32BE(lengthAt)
      if (rest.length < end) return
      if (!isStarting) countMessage(rest[0])
      else if (end >= 8 && rest.readInt32BE(4) === protocolVersion3) isStarting = false
      rest = rest.subarray(end)
    }
  }
}
