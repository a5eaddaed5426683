/** Between a replica and its database: a response can be held back while everything else passes. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface HoldingProxy {
  readonly url: string
  /** The next answer that contains the text is kept back, with all that follows on its connection. Resolves when it is. */
  hold(text: string): Promise<void>
  release(): void
  /** Whether the receiver of that text has sent another request after a later response: then it has read the text. */
  hasRead(text: string): boolean
}

interface Way {
  readonly answers: string[]
  /** How many answers there had been when each question came. */
  readonly questions: number[]
}

export async function holdingProxy(databaseUrl: string): Promise<HoldingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const ways: Way[] = []
  let wanted: { readonly text: string; readonly found: () => void } | undefined
  let release = (): void => {}
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const upstream = keep(createConnection({ host: target.hostname, port: Number(target.port) }))
    const way: Way = { answers: [], questions: [] }
    ways.push(way)
    keep(client).on('data', (chunk: Buffer) => {
      way.questions.push(way.answers.length)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      const answer = chunk.toString('latin1')
      if (wanted === undefined || !answer.includes(wanted.text)) {
        way.answers.push(answer)
        return void client.write(chunk)
      }
      wanted.found()
      wanted = undefined
      upstream.pause()
      release = () => {
        client.write(chunk)
        upstream.resume()
      }
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
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
    hold(text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      wanted = { text, found: resolve }
      return promise
    },
    release: () => release(),
    hasRead: (text) =>
      ways.some(({ answers, questions }) => {
        const at = answers.findIndex((answer) => answer.includes(text))
        // Answers are read in order, and one question is asked at a time.
        return at >= 0 && questions.some((seen) => seen > at + 1)
      }),
  }
}
