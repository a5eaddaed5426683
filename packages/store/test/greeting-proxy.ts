/** In front of a database: greets with the number of another backend, as a pooler does. Returns its URL. */
import { testProxy } from './test-proxy.ts'

/** BackendKeyData: its type, its length, then the number of the backend. */
const greeting = Buffer.from([0x4b, 0, 0, 0, 12])

export async function greetingProxy(databaseUrl: string): Promise<string> {
  const { url } = await testProxy(databaseUrl, (client, { connect }) => {
    const upstream = connect()
    upstream.on('data', (answer: Buffer) => {
      const index = answer.indexOf(greeting)
      if (index !== -1) answer.writeInt32BE(1, index + greeting.length)
      client.write(answer)
    })
    client.pipe(upstream)
    upstream.on('close', () => client.destroy())
  })
  return url
}
