/** Lists the tables of schema q: live and dead rows, size, last vacuum, and invalid indexes. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface TableHealth {
  readonly table: string
  /** Estimates of the server. */
  readonly live: number
  readonly dead: number
  readonly bytes: number
  readonly vacuumedAt: Date | null
  /** Names of indexes that a failed or unfinished CREATE INDEX CONCURRENTLY left behind. */
  readonly invalidIndexes: readonly string[]
}

export async function inspectTables(db: Db): Promise<TableHealth[]> {
  const { rows } = await sql<TableHealth>`
SELECT s.relname AS table, s.n_live_tup::float8 AS live, s.n_dead_tup::float8 AS dead, pg_total_relation_size(s.relid)::float8 AS bytes,
  greatest(s.last_vacuum, s.last_autovacuum) AS "vacuumedAt",
  ARRAY(SELECT i.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
    WHERE x.indrelid = s.relid AND NOT (x.indisvalid AND x.indisready) ORDER BY 1) AS "invalidIndexes"
FROM pg_stat_all_tables s WHERE s.schemaname = 'q' ORDER BY s.relname`.execute(db)
  return rows
}
