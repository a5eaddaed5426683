/** A webhook on this machine that answers each report after a delay and records it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface SlowReceiver extends AsyncDisposable {
  readonly url: string
  /** The number of different reports, by id. */
  received(): number
  requests(): number
  /** The most concurrent requests. */
  inFlightMax(): number
}

export async function startSlowReceiver(takesMs: number): Promise<SlowReceiver> {
  const ids = new Set<string>()
  let requests = 0
  let inFlight = 0
  let inFlightMax = 0
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests++
    inFlightMax = Math.max(inFlightMax, ++inFlight)
    request.resume()
    await sleep(takesMs)
    ids.add(String(request.headers['x-q-delivery']))
    inFlight--
    response.writeHead(204).end()
  }
  const server = createServer((request, response) => void receive(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: () => ids.size,
    requests: () => requests,
    inFlightMax: () => inFlightMax,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
