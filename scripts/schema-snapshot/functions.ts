import type { Client } from 'pg'
import { commentsOf } from './comments.ts'

export async function functions(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ oid: string; statement: string }>(`
    select p.oid, rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' as statement
    from pg_proc p where p.pronamespace = 'q'::regnamespace
    order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`)
  const parts: string[] = []
  for (const { oid, statement } of rows) parts.push(statement, ...(await commentsOf(client, 'pg_proc', [oid])))
  return parts
}

export async function triggers(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ oid: string; statement: string; table: string; enabled: string | null }>(`
    select t.oid, pg_get_triggerdef(t.oid, true) || ';' as statement, t.tgrelid::regclass::text as table,
      case t.tgenabled when 'D' then format('DISABLE TRIGGER %I', t.tgname)
        when 'R' then format('ENABLE REPLICA TRIGGER %I', t.tgname)
        when 'A' then format('ENABLE ALWAYS TRIGGER %I', t.tgname) end as enabled
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'q'::regnamespace and not t.tgisinternal
    order by c.relname collate "C", t.tgname collate "C"`)
  const parts: string[] = []
  for (const trigger of rows) {
    parts.push(trigger.statement)
    if (trigger.enabled !== null) parts.push(`ALTER TABLE ${trigger.table} ${trigger.enabled};`)
    parts.push(...(await commentsOf(client, 'pg_trigger', [trigger.oid])))
  }
  return parts
}
