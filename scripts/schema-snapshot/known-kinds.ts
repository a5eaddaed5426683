import type { Client } from 'pg'

/** Objects in schema q that no part of the snapshot would show. */
const unknown = `
  select case c.relkind when 'S' then 'sequence' when 'm' then 'materialized view' when 'p' then 'partitioned table'
           when 'I' then 'partitioned index' when 'f' then 'foreign table' else 'composite type' end as kind, c.relname as name
  from pg_class c
  where c.relnamespace = 'q'::regnamespace
    and (c.relkind in ('m', 'p', 'I', 'f', 'c') or c.relkind = 'S' and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i'))
  union all
  select case t.typtype when 'd' then 'domain' when 'r' then 'range' else 'type' end, t.typname
  from pg_type t where t.typnamespace = 'q'::regnamespace and t.typtype not in ('e', 'c', 'b')
  union all
  select 'base type', t.typname
  from pg_type t where t.typnamespace = 'q'::regnamespace and t.typtype = 'b' and t.typcategory <> 'A'
  union all
  select 'aggregate', p.proname from pg_proc p where p.pronamespace = 'q'::regnamespace and p.prokind not in ('f', 'p')
  union all
  select 'rule', r.rulename
  from pg_rewrite r join pg_class c on c.oid = r.ev_class
  where c.relnamespace = 'q'::regnamespace and r.rulename <> '_RETURN'
  union all
  select 'policy', p.polname
  from pg_policy p join pg_class c on c.oid = p.polrelid where c.relnamespace = 'q'::regnamespace
  union all
  select 'extended statistics', s.stxname from pg_statistic_ext s where s.stxnamespace = 'q'::regnamespace
  order by 1, 2`

export async function refuseUnknownKinds(client: Client): Promise<void> {
  const { rows } = await client.query<{ kind: string; name: string }>(unknown)
  if (rows.length === 0) return
  const list = rows.map((row) => `${row.kind} q.${row.name}`).join(', ')
  throw new Error(`The snapshot of the schema cannot show: ${list}. Teach scripts/schema-snapshot to.`)
}
