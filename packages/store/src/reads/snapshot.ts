/**
 * Executes several reads in one snapshot. Otherwise a run could end between reading its row and reading its history.
 */
import type { Db } from '../connection/db.ts'

/** In a caller's transaction the caller's isolation decides. */
export function inSnapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db)
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
