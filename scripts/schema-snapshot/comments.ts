import type { Client } from 'pg'

/** The comments on these objects and their columns, as one block; the objects' own before their columns'. */
export async function commentsOf(client: Client, catalog: Catalog, objects: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ comment: string }>(
    `select format('COMMENT ON %s %s IS %L;', ${kind}, o.identity, d.description) as comment
     from pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) o
     where d.classoid = $1::regclass and d.objoid = any (${catalog === 'pg_namespace' ? '$2::regnamespace[]' : '$2::oid[]'})
     order by d.objsubid, o.identity collate "C"`,
    [catalog, objects],
  )
  return rows.length === 0 ? [] : [rows.map((row) => row.comment).join('\n')]
}

type Catalog = 'pg_namespace' | 'pg_type' | 'pg_class' | 'pg_constraint' | 'pg_proc' | 'pg_trigger'

/** `table column` and `table constraint` are called differently in COMMENT ON. */
const kind = `upper(regexp_replace(o.type, '^(table|view) (?=column|constraint)', ''))`
