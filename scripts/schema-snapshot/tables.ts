/** Each table with its columns, constraints, storage parameters, indexes and comments; foreign keys after all of them. */
import type { Client } from 'pg'
import { columns } from './columns.ts'
import { commentsOf } from './comments.ts'
import { indented } from './layout.ts'

export async function tables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ oid: string; name: string; unlogged: boolean; options: string | null }>(`
    select c.oid, c.oid::regclass::text as name, c.relpersistence = 'u' as unlogged,
      (select string_agg(replace(o, '=', ' = '), ', ' order by n)
       from unnest(c.reloptions) with ordinality u(o, n)) as options
    from pg_class c where c.relnamespace = 'q'::regnamespace and c.relkind = 'r'
    order by c.relname collate "C"`)
  const parts: string[] = []
  for (const table of rows) {
    const { lines, settings } = await columns(client, table.oid, table.name)
    const constraints = await constraintsOf(client, table.oid)
    const indexes = await indexesOf(client, table.oid)
    const body = [...lines, ...constraints.map((constraint) => indented(constraint.text))]
    const options = table.options === null ? '' : ` WITH (${table.options})`
    parts.push(
      `CREATE ${table.unlogged ? 'UNLOGGED ' : ''}TABLE ${table.name} (\n  ${body.join(',\n  ')}\n)${options};`,
      ...block(settings),
      ...(await commentsOf(client, 'pg_class', [table.oid])),
      ...(await commentsOf(client, 'pg_constraint', oids(constraints))),
      ...block(indexes.map((index) => index.text)),
      ...(await commentsOf(client, 'pg_class', oids(indexes))),
    )
  }
  return parts
}

export async function foreignKeys(client: Client): Promise<string[]> {
  const { rows } = await client.query<Part>(`
    select oid, format('ALTER TABLE %s ADD CONSTRAINT %I %s;', conrelid::regclass, conname,
      pg_get_constraintdef(oid, true)) as text
    from pg_constraint where connamespace = 'q'::regnamespace and contype = 'f'
    order by conrelid::regclass::text collate "C", conname collate "C"`)
  return [...block(rows.map((row) => row.text)), ...(await commentsOf(client, 'pg_constraint', oids(rows)))]
}

interface Part {
  readonly oid: string
  readonly text: string
}

/** NOT NULL belongs to the columns: since PostgreSQL 18 it is also found here, as contype n. */
async function constraintsOf(client: Client, table: string): Promise<Part[]> {
  const { rows } = await client.query<Part>(
    `select oid, format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid, true)) as text
     from pg_constraint where conrelid = $1 and contype in ('p', 'u', 'x', 'c')
     order by position(contype::text in 'puxc'), conname collate "C"`,
    [table],
  )
  return rows
}

async function indexesOf(client: Client, table: string): Promise<Part[]> {
  const { rows } = await client.query<Part>(
    `select c.oid, pg_get_indexdef(c.oid) || ';' as text
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = $1 and not exists (
       select from pg_constraint k where k.conindid = c.oid and k.contype in ('p', 'u', 'x'))
     order by c.relname collate "C"`,
    [table],
  )
  return rows
}

function oids(parts: readonly Part[]): string[] {
  return parts.map((part) => part.oid)
}

function block(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [lines.join('\n')]
}
