/**
 * In front of a database: breaks a connection after the server has done what it was asked, and before its answer arrives. The
 * program cannot know whether its statement was committed; it was.
 */
import { closeTogether, testProxy } from './test-proxy.ts'

export interface CuttingProxy {
  readonly url: string
  /** Breaks the next connection that sends this text, once the server is done with it. */
  cutAfter(text: string): void
}

/** ReadyForQuery, outside of a transaction: everything sent so far is committed. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  let cutAfter: string | undefined
  const { url } = await testProxy(databaseUrl, (client, { connect }) => {
    const upstream = connect()
    let cutting = false
    client.on('data', (request: Buffer) => {
      if (cutAfter !== undefined && request.includes(cutAfter)) {
        cutting = true
        cutAfter = undefined
      }
      upstream.write(request)
    })
    upstream.on('data', (answer: Buffer) => {
      if (!cutting) client.write(answer)
      else if (answer.includes(ready)) client.destroy()
    })
    closeTogether(client, upstream)
  })
  return { url, cutAfter: (text) => void (cutAfter = text) }
}
