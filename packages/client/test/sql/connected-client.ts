/** A plain `pg` client of a database of its own, until the tests of the file have ended. */
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { testDatabase } from '@q/testing'

export async function connectedClient(): Promise<Client> {
  const database = await testDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  afterAll(async () => {
    await client.end()
    await database.drop()
  })
  return client
}
