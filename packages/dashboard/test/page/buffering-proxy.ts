/** A proxy in front of the server that keeps the body of a stream until it ends, as some do. */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface BufferingProxy extends AsyncDisposable {
  readonly origin: string
  to(port: number): void
}

export async function bufferingProxy(): Promise<BufferingProxy> {
  let port = 0
  const proxy = createServer((incoming, outgoing) => pass(incoming, outgoing, port))
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    to: (other) => void (port = other),
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method = 'GET', url = '/', headers } = incoming
  const forwarded = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    outgoing.flushHeaders()
    if (answer.headers['content-type']?.startsWith('text/event-stream') !== true) answer.pipe(outgoing)
    else answer.resume().once('end', () => outgoing.end())
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  incoming.pipe(forwarded)
}
