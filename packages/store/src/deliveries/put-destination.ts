/**
 * Creates, changes and removes destinations. The database then enables or disables the triggers that write reports
 * (migration 0016); the change takes effect with the commit.
 *
 * These calls cannot join the caller's transaction: it would keep the triggers locked.
 */
import { ExplainedError } from '@q/schema'
import { checkName } from '@q/schema/json'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { DestinationInput } from './destination.ts'
import { whenUnlocked } from './when-unlocked.ts'

export type PutDestinationAnswer = 'made' | 'changed' | 'unchanged'

export interface PutDestinationOptions {
  /** Whether the file of a replica declares it. */
  readonly declared?: boolean
}

const everyMsDefault = 300_000

export async function putDestination(
  db: Db,
  input: DestinationInput,
  { declared = false }: PutDestinationOptions = {},
): Promise<PutDestinationAnswer> {
  const problem = checkName('destination', input.name)
  if (problem !== undefined) throw invalid(`its name ${problem}`)
  return whenUnlocked(db, () => put(db, input, declared))
}

// Written in SQL: an upsert that compares the stored destination with the new one.
async function put(db: Db, input: DestinationInput, declared: boolean): Promise<PutDestinationAnswer> {
  const { tasks = [], statuses = [], settings = {}, everyMs = everyMsDefault } = input
  const { rows } = await sql<{ made: boolean }>`
INSERT INTO q.destination AS d (name, kind, news, tasks, statuses, settings, every_ms, declared)
VALUES (${input.name}, ${input.kind}, ${input.reports}::text[], ${tasks}::text[], ${statuses}::text[], ${JSON.stringify(settings)}::jsonb,
  ${everyMs}::int, ${declared})
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, news = excluded.news, tasks = excluded.tasks, statuses = excluded.statuses,
  settings = excluded.settings, every_ms = excluded.every_ms, declared = excluded.declared
WHERE (d.kind, d.news, d.tasks, d.statuses, d.settings, d.every_ms, d.declared) IS DISTINCT FROM
  (excluded.kind, excluded.news, excluded.tasks, excluded.statuses, excluded.settings, excluded.every_ms, excluded.declared)
RETURNING xmax = 0 AS made`.execute(db)
  const [row] = rows
  return row === undefined ? 'unchanged' : row.made ? 'made' : 'changed'
}

/** Removes a destination with its undelivered reports. Delivered reports stay until they are pruned. */
export function removeDestination(db: Db, name: string): Promise<'removed' | 'not-found'> {
  return whenUnlocked(db, async () => {
    const { rows } = await sql`
WITH removed AS (
  DELETE FROM q.destination WHERE name = ${name} RETURNING name
), state AS (
  DELETE FROM q.destination_state WHERE destination IN (SELECT name FROM removed)
), undelivered AS (
  DELETE FROM q.delivery WHERE destination IN (SELECT name FROM removed) AND delivered_at IS NULL
)
SELECT name FROM removed`.execute(db)
    return rows.length === 0 ? 'not-found' : 'removed'
  })
}

/** Removes the destinations that a file declared earlier and no longer declares. Returns their names. */
export async function removeUndeclared(db: Db, declared: readonly string[]): Promise<string[]> {
  const old = await db.selectFrom('q.destination').select('name').where('declared', '=', true).execute()
  const names = old.map(({ name }) => name).filter((name) => !declared.includes(name))
  for (const name of names) await removeDestination(db, name)
  return names
}

function invalid(why: string): ExplainedError {
  return new ExplainedError({
    code: 'DESTINATION_INVALID',
    what: 'The destination cannot be stored; nothing was changed.',
    why: `The destination is invalid: ${why}.`,
    fix: 'Give it a short printable name.',
  })
}
