import type { AnyDatabase } from '@q/schema'
import { connect } from '@q/store'

/** Lends a database and closes it, whatever happens: a template must have no sessions. */
export async function withDatabase<T>(url: string, use: (db: AnyDatabase) => Promise<T>): Promise<T> {
  const connection = connect(url, { purpose: 'control' })
  try {
    return await use(connection.db)
  } finally {
    await connection.close()
  }
}
