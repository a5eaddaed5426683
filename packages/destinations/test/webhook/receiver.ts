/** A real HTTP server that receives webhooks and answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly received: readonly Received[]
  /** How it answers from now on. */
  answer: (response: ServerResponse, received: Received) => void
}

export async function receiver(): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => void receive(request, response))
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const one = { headers: request.headers, body: await text(request) }
    received.push(one)
    answering.answer(response, one)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answering: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (response) => void response.writeHead(204).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return answering
}
