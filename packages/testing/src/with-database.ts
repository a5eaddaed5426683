import type { AnyDatabase } from '@q/schema'
import { connect } from '@q/store'

/** Opens a database for the callback and always closes it: a template must have no sessions. */
export async function withDatabase<T>(url: string, use: (db: AnyDatabase) => Promise<T>): Promise<T> {
  const connection = connect(url, { purpose: 'control' })
  try {
    return await use(connection.db)
  } finally {
    await connection.close()
  }
}
