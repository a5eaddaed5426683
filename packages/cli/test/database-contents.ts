/** Everything that is stored in schema q, as one text per table: two equal contents show that nothing was changed. */
import { sql } from 'kysely'
import type { Db } from '@q/store'

export async function databaseContents(db: Db): Promise<Readonly<Record<string, string>>> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'q'::regnamespace AND relkind = 'r' ORDER BY relname`.execute(
    db,
  )
  const contents: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string | null }>`
      SELECT string_agg(t::text, E'\n' ORDER BY t::text) AS text FROM ${sql.table(`q.${name}`)} t`.execute(db)
    contents[name] = rows[0]?.text ?? ''
  }
  return contents
}
