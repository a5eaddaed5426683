/**
 * The statements of the previous release, as it sends them, pinned in `previous-release/`: copies of `packages/store/sql` of its
 * last commit (scripts/compat.ts names it). A release replaces them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { CompiledQuery, sql } from 'kysely'
import type { AnyDatabase } from '@q/schema'

const folder = new URL('./previous-release/', import.meta.url)

export const previousStatements: ReadonlyMap<string, string> = new Map(
  readdirSync(folder).map((file) => [file.replace('.sql', ''), readFileSync(new URL(file, folder), 'utf8')]),
)

/** The rows that a statement of the previous release returns. */
export async function asPrevious<Row>(db: AnyDatabase, name: string, values: readonly unknown[]): Promise<Row[]> {
  const text = previousStatements.get(name)
  if (text === undefined) throw new Error(`The previous release has no statement ${name}.`)
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows
}

/** A replica as the previous release registers it: without a level. */
export async function registeredByPrevious(db: AnyDatabase, id: string): Promise<void> {
  await sql`
    WITH registered AS (
      INSERT INTO q.replica (id, name, hostname, pid, version, queues, tasks, capabilities, endpoint, slots, preset, on_crash,
        replica_beat_ms, replica_stale_ms, check_every_ms, claimer_beat_ms, claimer_stale_ms, runner_beat_ms, runner_stale_ms)
      VALUES (${id}, ${id}, 'host', 1, '0.1.0', '{}', '{}', '{}', NULL, 2, 'default', 'fail', 10000, 60000, 30000, 30000, 120000, 30000, 300000))
    INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat, free_slots) VALUES (${id}, clock_timestamp(), 2)`.execute(
    db,
  )
}
