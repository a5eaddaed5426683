/** Work that must be one transaction: the caller's, if it is in one, else one of its own. */
import type { Db } from './db.ts'

export function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}
