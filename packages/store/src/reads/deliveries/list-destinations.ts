/**
 * Lists destinations with the state of their reports. Counts are bounded, so a backlog does not make the read slow.
 * Takes no locks.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { Destination } from '../../deliveries/destination.ts'
import { bounded, countOf, type Bounded } from '../bounded.ts'

export interface DestinationView extends Destination {
  /** Reports that are neither delivered nor given up. */
  readonly waiting: Bounded
  readonly givenUp: Bounded
  /** When the oldest waiting report is due, possibly in the future. Null: none waits. */
  readonly dueAt: Date | null
  /** The error of the newest failed report that waits for another try or was given up. */
  readonly lastError: string | null
  /** The name of the replica that sends the reports. */
  readonly sender: string | null
}

const countMax = 10_000

const columns = sql`d.name, d.kind, d.news AS reports, d.tasks, d.statuses, d.settings, d.every_ms AS "everyMs", d.declared,
  d.created_at AS "createdAt", d.paused_at AS "pausedAt", d.paused_by AS "pausedBy", d.pause_reason AS "pauseReason"`

export async function readDestinations(db: Db): Promise<Destination[]> {
  return (await sql<Destination>`SELECT ${columns} FROM q.destination d ORDER BY d.name COLLATE "C"`.execute(db)).rows
}

export async function listDestinations(db: Db): Promise<DestinationView[]> {
  const some = sql`SELECT FROM q.delivery r WHERE r.destination = d.name`
  const { rows } = await sql<Omit<DestinationView, 'waiting' | 'givenUp'> & { waiting: number; givenUp: number }>`
SELECT ${columns},
  ${countOf(sql`${some} AND r.due_at IS NOT NULL LIMIT ${countMax + 1}`)} AS waiting,
  ${countOf(sql`${some} AND r.due_at IS NULL AND r.delivered_at IS NULL LIMIT ${countMax + 1}`)} AS "givenUp",
  (SELECT min(r.due_at) FROM q.delivery r WHERE r.destination = d.name AND r.due_at IS NOT NULL) AS "dueAt",
  (SELECT failed.last_error FROM (
    (SELECT r.id, r.last_error FROM q.delivery r WHERE r.destination = d.name AND r.due_at IS NOT NULL AND r.last_error IS NOT NULL
      ORDER BY r.due_at LIMIT 1)
    UNION ALL
    (SELECT r.id, r.last_error FROM q.delivery r WHERE r.destination = d.name AND r.due_at IS NULL AND r.delivered_at IS NULL
      ORDER BY r.id DESC LIMIT 1)) failed ORDER BY failed.id DESC LIMIT 1) AS "lastError",
  (SELECT n.name FROM q.duty JOIN q.replica n ON n.id = duty.holder
    WHERE duty.name = 'deliver ' || d.name AND duty.until > clock_timestamp()) AS sender
FROM q.destination d ORDER BY d.name COLLATE "C"`.execute(db)
  return rows.map((row) => ({
    ...row,
    waiting: bounded(row.waiting, countMax),
    givenUp: bounded(row.givenUp, countMax),
  }))
}
