/**
 * Lists live replicas that do not know the newest migrations of this program: a migration would change their schema
 * while they run. A replica that does not report its newest migration counts as older.
 */
import { programLevel, type AnyDatabase } from '@q/schema'
import { sql } from 'kysely'
import { isAlive } from '../../replicas/alive.ts'

export interface OlderReplica {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly version: string
  /** Number of the newest migration that the replica knows; null: its release does not report it. */
  readonly level: number | null
}

export async function olderReplicas(db: AnyDatabase): Promise<OlderReplica[]> {
  const { rows: known } = await sql<{ present: boolean }>`
    SELECT to_regclass('q.presence') IS NOT NULL AS present`.execute(db)
  if (known[0]?.present !== true) return []
  const level = sql<number | null>`(to_jsonb(n) ->> 'level')::int`
  const { rows } = await sql<OlderReplica>`
    SELECT n.id, n.name, n.hostname, n.version, ${level} AS level
    FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
    WHERE ${isAlive} AND coalesce(${level}, 0) < ${await programLevel()} ORDER BY n.name`.execute(db)
  return rows
}
