import type { Client } from 'pg'
import { commentsOf } from './comments.ts'

export async function enums(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ oid: string; statement: string }>(`
    select t.oid, format(E'CREATE TYPE %s AS ENUM (\\n%s\\n);', format_type(t.oid, null),
      (select string_agg(format('  %L', e.enumlabel), E',\\n' order by e.enumsortorder)
       from pg_enum e where e.enumtypid = t.oid)) as statement
    from pg_type t where t.typnamespace = 'q'::regnamespace and t.typtype = 'e'
    order by t.typname collate "C"`)
  const parts: string[] = []
  for (const { oid, statement } of rows) parts.push(statement, ...(await commentsOf(client, 'pg_type', [oid])))
  return parts
}
