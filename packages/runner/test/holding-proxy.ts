/** Between a replica and its database: a response can be held back while everything else passes. */
import { closeTogether, testProxy } from '../../store/test/test-proxy.ts'

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
  const ways: Way[] = []
  let wanted: { readonly text: string; readonly found: () => void } | undefined
  let release = (): void => {}
  const { url } = await testProxy(databaseUrl, (client, { connect }) => {
    const upstream = connect()
    const way: Way = { answers: [], questions: [] }
    ways.push(way)
    client.on('data', (chunk: Buffer) => {
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
    closeTogether(client, upstream)
  })
  return {
    url,
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
