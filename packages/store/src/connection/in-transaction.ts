/** Runs work in the caller's transaction, or in a new one if there is none. */
import type { Db } from './db.ts'

export function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}
