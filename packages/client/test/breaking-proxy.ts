/** Between a client and its database: breaks the connection whose next statement contains a text, or all of them. */
import { closeTogether, testProxy } from '../../store/test/test-proxy.ts'

export interface BreakingProxy {
  readonly url: string
  /** Once: the statement does not arrive, and its connection breaks. */
  breakAt(text: string): void
  readonly broken: Promise<void>
  /** Breaks every connection, and refuses new ones. */
  close(): void
}

export async function breakingProxy(databaseUrl: string): Promise<BreakingProxy> {
  const { promise: broken, resolve } = Promise.withResolvers<void>()
  let deadly: string | undefined
  const { url, close } = await testProxy(databaseUrl, (client, { connect }) => {
    const upstream = connect()
    client.on('data', (sent: Buffer) => {
      if (deadly === undefined || !sent.includes(deadly)) return void upstream.write(sent)
      deadly = undefined
      client.destroy()
      upstream.destroy()
      resolve()
    })
    upstream.pipe(client)
    closeTogether(client, upstream)
  })
  return { url, broken, close, breakAt: (text) => (deadly = text) }
}
