/** A plain connection to the database of a test. */
import { Client } from 'pg'

export interface SqlClient extends AsyncDisposable {
  ask(text: string): Promise<Record<string, unknown>[]>
}

export async function sqlClient(url: string): Promise<SqlClient> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return {
    ask: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  }
}
