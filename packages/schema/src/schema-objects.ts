/**
 * Reads the objects of schema q with their definitions from the catalogs, and compares them with the objects that the
 * migrations of this release create. The same schema has the same definitions on every PostgreSQL from 15 on. Views are
 * compared by their columns, because servers print their queries differently. It ignores rows, owners, privileges,
 * comments, and which report triggers exist and are enabled: destinations decide that.
 */
import { sql } from 'kysely'
import type { AnyDatabase } from './schema-state.ts'

export interface SchemaObject {
  readonly kind: 'table' | 'column' | 'constraint' | 'index' | 'trigger' | 'function' | 'view' | 'type'
  /** Includes the table, if there is one: `task_run.ready`. */
  readonly name: string
  readonly definition: string
}

export interface SchemaDrift {
  /** `extra`: no migration creates it. */
  readonly difference: 'missing' | 'changed' | 'extra'
  readonly kind: SchemaObject['kind']
  readonly name: string
  /** The statement that restores the object; undefined if one statement is not enough. */
  readonly fix: string | undefined
}

/** Returns the same order on every server. */
export async function schemaObjects(db: AnyDatabase): Promise<SchemaObject[]> {
  return db.transaction().execute(async (trx) => {
    // The server's deparsing functions write names in full if nothing is on the search path.
    await sql`SET LOCAL search_path = pg_catalog`.execute(trx)
    await sql`SET LOCAL quote_all_identifiers = off`.execute(trx)
    return (await objects.execute(trx)).rows
  })
}

/** Compares the database with `expected`; missing and changed objects before extra ones. */
export async function schemaDrift(db: AnyDatabase, expected: readonly SchemaObject[]): Promise<SchemaDrift[]> {
  const present = new Map((await schemaObjects(db)).map((object) => [keyOf(object), object]))
  const known = new Set(expected.map(keyOf))
  const wrong = expected.flatMap((object): SchemaDrift[] => {
    const { kind, name, definition } = object
    const found = present.get(keyOf(object))
    if (found?.definition === definition) return []
    return [{ difference: found === undefined ? 'missing' : 'changed', kind, name, fix: restoring(object, found) }]
  })
  const extra = [...present.values()]
    .filter((object) => !known.has(keyOf(object)))
    .map(({ kind, name }): SchemaDrift => ({ difference: 'extra', kind, name, fix: undefined }))
  return [...wrong, ...extra]
}

function keyOf({ kind, name }: SchemaObject): string {
  return `${kind} ${name}`
}

function restoring({ kind, name, definition }: SchemaObject, found: SchemaObject | undefined): string | undefined {
  const [table = '', object = ''] = name.split('.')
  switch (kind) {
    case 'function':
      return `${definition};`
    case 'index':
      return found === undefined ? `${definition};` : `DROP INDEX q.${object}; ${definition};`
    case 'trigger':
      return found === undefined ? `${definition};` : `DROP TRIGGER ${object} ON q.${table}; ${definition};`
    case 'constraint': {
      const drop = found === undefined ? '' : `DROP CONSTRAINT ${object}, `
      return `ALTER TABLE q.${table} ${drop}ADD CONSTRAINT ${object} ${definition};`
    }
    case 'table':
    case 'column':
    case 'view':
    case 'type':
      return undefined
  }
}

const objects = sql<SchemaObject>`
WITH relation AS (
  SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.reloptions FROM pg_class c
  WHERE c.relnamespace = 'q'::regnamespace AND c.relkind IN ('r', 'v')
), object AS (
  SELECT 'table' AS kind, relname::text AS name, relpersistence::text || coalesce(' ' || array_to_string(ARRAY(
    SELECT unnest(reloptions) ORDER BY 1), ', '), '') AS definition
  FROM relation WHERE relkind = 'r'
  UNION ALL
  SELECT 'view', r.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
  FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE r.relkind = 'v' GROUP BY r.relname
  UNION ALL
  SELECT 'column', r.relname || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attgenerated = 's' THEN 'generated' END, CASE a.attidentity WHEN 'a' THEN 'identity always' WHEN 'd' THEN 'identity' END,
    'default ' || pg_get_expr(d.adbin, d.adrelid, true), CASE WHEN a.attnotnull THEN 'not null' END)
  FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE r.relkind = 'r'
  UNION ALL
  SELECT 'constraint', r.relname || '.' || k.conname, pg_get_constraintdef(k.oid, true)
  FROM relation r JOIN pg_constraint k ON k.conrelid = r.oid WHERE k.contype IN ('p', 'u', 'x', 'c', 'f')
  UNION ALL
  SELECT 'index', r.relname || '.' || i.relname, pg_get_indexdef(x.indexrelid)
  FROM relation r JOIN pg_index x ON x.indrelid = r.oid JOIN pg_class i ON i.oid = x.indexrelid
  WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype IN ('p', 'u', 'x'))
  UNION ALL
  SELECT 'trigger', r.relname || '.' || t.tgname, pg_get_triggerdef(t.oid, true)
    || CASE WHEN t.tgenabled = 'O' OR starts_with(t.tgname::text, 'report_') THEN '' ELSE ' ' || t.tgenabled::text END
  FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal AND NOT starts_with(t.tgname::text, 'report_batch_')
  UNION ALL
  SELECT 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), rtrim(pg_get_functiondef(p.oid), E'\n')
  FROM pg_proc p WHERE p.pronamespace = 'q'::regnamespace AND p.prokind IN ('f', 'p')
  UNION ALL
  SELECT 'type', t.typname, (SELECT string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid)
  FROM pg_type t WHERE t.typnamespace = 'q'::regnamespace AND t.typtype = 'e'
)
SELECT kind, name, definition FROM object ORDER BY kind, name COLLATE "C"`
