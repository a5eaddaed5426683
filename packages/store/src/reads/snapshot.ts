/** Several reads of one moment: without it a run could end between the look at its row and the look at its history. */
import type { Db } from '../connection/db.ts'

/** In a caller's transaction the caller's isolation decides. */
export function inSnapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db)
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
