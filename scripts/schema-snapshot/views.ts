import type { Client } from 'pg'
import { commentsOf } from './comments.ts'

export async function views(client: Client): Promise<string[]> {
  // By age, because a view may read an older one.
  const { rows } = await client.query<{ oid: string; name: string; options: string | null; definition: string }>(`
    select c.oid, c.oid::regclass::text as name, pg_get_viewdef(c.oid, true) as definition,
      array_to_string(c.reloptions, ', ') as options
    from pg_class c where c.relnamespace = 'q'::regnamespace and c.relkind = 'v'
    order by c.oid`)
  const parts: string[] = []
  for (const view of rows) {
    const options = view.options === null ? '' : ` WITH (${view.options})`
    parts.push(`CREATE VIEW ${view.name}${options} AS\n${unqualified(view.definition)}`)
    parts.push(...(await commentsOf(client, 'pg_class', [view.oid])))
  }
  return parts
}

/**
 * Up to PostgreSQL 15 the columns of a view are written with their table's name even if there is only one table, from
 * 16 on they are not. Both are brought to the shorter form. A view with a subselect is left as it is.
 */
function unqualified(definition: string): string {
  const from = [...definition.matchAll(/\bFROM (?:\w+\.)?(\w+)(?: (\w+))?(?=[\s;])/g)]
  if (from.length !== 1 || /\bJOIN\b|\(\s*SELECT\b/.test(definition)) return definition
  const [, table, alias] = from[0]!
  const word = alias !== undefined && !/^[A-Z]+$/.test(alias) ? alias : table
  return definition.replaceAll(new RegExp(`(?<![\\w.'"])${word}\\.(?=[\\w"])`, 'g'), '')
}
