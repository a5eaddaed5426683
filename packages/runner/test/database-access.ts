/** A connection to the database of a test, and the presence of its replicas. */
import { onTestFinished } from 'vitest'
import { connect, createStore, type Connection } from '@q/store'

export function access(url: string) {
  const { db, close }: Connection = connect(url, { purpose: 'control' })
  onTestFinished(close)
  return { db, store: createStore(db) }
}

/** The ids of the replicas that are present. */
export async function presences(db: Connection['db']): Promise<string[]> {
  const rows = await db.selectFrom('q.presence').select('replica_id').where('gone_at', 'is', null).execute()
  return rows.map((row) => row.replica_id)
}
