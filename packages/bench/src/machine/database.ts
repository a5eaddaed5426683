/** Executes SQL on any database of the benchmark, on one connection for each. */
import { connect, type Connection } from '@q/store'
import { CompiledQuery } from 'kysely'

const connections = new Map<string, Connection>()

/** `text`: a statement without parameters. */
export async function queryRows<Row>(url: string, text: string): Promise<Row[]> {
  const connection = connections.get(url) ?? connect(url, { purpose: 'migrate' })
  connections.set(url, connection)
  const { rows } = await connection.db.executeQuery(CompiledQuery.raw(text))
  return rows as Row[]
}

export async function closeConnection(url: string): Promise<void> {
  const connection = connections.get(url)
  connections.delete(url)
  await connection?.close()
}
