/**
 * Reads the rights of this login in schema q, and the tables that the roles of db/roles.sql cannot read because a later
 * migration created them.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface Rights {
  readonly user: string
  readonly mayUse: boolean
  /** Tables that this login cannot read, or cannot change. */
  readonly unreadable: readonly string[]
  readonly unwritable: readonly string[]
  /** Roles of db/roles.sql that exist and lack the right to read a table: the script must be run again. */
  readonly outdatedRoles: readonly { readonly role: string; readonly tables: readonly string[] }[]
}

/** Roles that can read every table. */
const readingRoles = ['q_client', 'q_reader', 'q_runner', 'q_admin']

export async function inspectRights(db: Db): Promise<Rights> {
  const { rows } = await sql<Rights>`
WITH tables AS (
  SELECT c.oid, c.relname::text AS name FROM pg_class c WHERE c.relnamespace = 'q'::regnamespace AND c.relkind = 'r'
    AND c.relname NOT IN ('migration', 'migration_lock', 'compatibility')
)
SELECT current_user::text AS "user", has_schema_privilege('q', 'USAGE') AS "mayUse",
  ARRAY(SELECT name FROM tables WHERE NOT has_table_privilege(oid, 'SELECT') ORDER BY name) AS unreadable,
  ARRAY(SELECT name FROM tables WHERE NOT (has_table_privilege(oid, 'INSERT')
    AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')) ORDER BY name) AS unwritable,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('role', role, 'tables', lacking) ORDER BY role), '[]') FROM (
    SELECT r.rolname::text AS role, array_agg(t.name ORDER BY t.name) AS lacking
    FROM pg_roles r CROSS JOIN tables t WHERE r.rolname = ANY(${readingRoles}::text[]) AND has_schema_privilege(r.oid, 'q', 'USAGE')
      AND NOT has_table_privilege(r.oid, t.oid, 'SELECT') GROUP BY r.rolname) outdated) AS "outdatedRoles"`.execute(db)
  const [rights] = rows
  if (rights === undefined) throw new Error('The server answered without a row.')
  return rights
}
