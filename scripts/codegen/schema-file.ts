import { Client } from 'pg'
import { schemaPicture } from '../schema-picture/schema-picture.ts'

export async function schemaFile(url: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await schemaPicture(client)
  } finally {
    await client.end()
  }
}
