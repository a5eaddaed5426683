import { Client } from 'pg'
import { testDatabase, type TestDatabase, type TestDatabaseOptions } from '@q/testing'

export interface OpenDatabase extends AsyncDisposable {
  readonly url: string
  readonly client: Client
}

/** A test database and one connection to it; both end together. */
export async function openDatabase(options?: TestDatabaseOptions): Promise<OpenDatabase> {
  const database: TestDatabase = await testDatabase(options)
  const client = new Client({ connectionString: database.url })
  await client.connect()
  return {
    url: database.url,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.end()
      await database.drop()
    },
  }
}
