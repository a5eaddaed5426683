import { Client } from 'pg'

/** One query on a connection of its own; the first column of the first row. */
export async function ask(url: string, query: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text: query, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

/** Identifies the server: the same for every program on the same data. */
export function systemIdOf(url: string): Promise<unknown> {
  return ask(url, 'SELECT system_identifier::text FROM pg_control_system()')
}

/** How many hold the users' lock. Of a killed one it is freed a moment later, when its closed socket is noticed. */
export async function countUsers(url: string): Promise<number> {
  const count = `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'`
  return Number(await ask(url.replace(/\/q$/, '/postgres'), count))
}

export function withPassword(url: string, password: string): string {
  const changed = new URL(url)
  changed.password = password
  return changed.href
}
