/**
 * Returns names of replicas by id, for texts that people read. An id without a row is its own name: it is a person, or
 * a pruned replica.
 */
import type { Db } from '../../connection/db.ts'

export type NameOf = (id: string) => string

export async function replicaNames(db: Db, ids: readonly (string | null)[]): Promise<NameOf> {
  const wanted = [...new Set(ids.filter((id) => id !== null))]
  if (wanted.length === 0) return (id) => id
  const rows = await db.selectFrom('q.replica').select(['id', 'name']).where('id', 'in', wanted).execute()
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
