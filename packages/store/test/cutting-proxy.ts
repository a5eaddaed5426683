/**
 * In front of a database: breaks a connection after the server has done what it was asked, and before its answer arrives. The
 * program cannot know whether its statement was committed; it was.
 */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface CuttingProxy {
  readonly url: string
  /** Breaks the next connection that sends this text, once the server is done with it. */
  cutAfter(text: string): void
}

/** ReadyForQuery, outside of a transaction: everything sent so far is committed. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let cutAfter: string | undefined
  const server = createServer((socket) => {
    const upstream = createConnection({ host: target.hostname, port: Number(target.port) })
    for (const end of [socket, upstream]) sockets.add(end.on('error', () => {}))
    let cutting = false
    socket.on('data', (request: Buffer) => {
      if (cutAfter !== undefined && request.includes(cutAfter)) {
        cutting = true
        cutAfter = undefined
      }
      upstream.write(request)
    })
    upstream.on('data', (answer: Buffer) => {
      if (!cutting) socket.write(answer)
      else if (answer.includes(ready)) socket.destroy()
    })
    socket.on('close', () => upstream.destroy())
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
  return { url: url.href, cutAfter: (text) => void (cutAfter = text) }
}
