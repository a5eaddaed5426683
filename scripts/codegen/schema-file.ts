import { Client } from 'pg'
import { schemaSnapshot } from '../schema-snapshot/schema-snapshot.ts'

export async function schemaFile(url: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await schemaSnapshot(client)
  } finally {
    await client.end()
  }
}
