/**
 * The drain of a replica: ordered, undone, or decided by the replica itself. The replica learns of a change from a wake, or from
 * the response to its next heartbeat.
 *
 * Undoing a drain and leaving exclude each other. Both lock the replica's row and change it only if the other has not happened:
 * `leaving_at` is set while the drain stands, and the drain is undone while `leaving_at` is not set.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { fromNow, now } from '../clock.ts'
import { freeBlockedKeys, promoteStartable } from '../runs/promote.ts'
import type { DrainOrder, OnDeadline } from './drain-order.ts'

export interface NewDrainOrder {
  readonly by: string
  /** Without one, the replica waits until its runs have finished. */
  readonly deadlineMs?: number
  /** What happens to the runs that the replica stops at the deadline. Default: `by-task`. */
  readonly onDeadline?: OnDeadline
}

/** A drain that the replica follows already. */
export interface CurrentDrain extends NewDrainOrder {
  /** Whether the replica leaves regardless of orders. */
  readonly leaving: boolean
}

/** Orders a replica to drain. The last order replaces the deadline and `onDeadline` of earlier ones. */
export async function drainReplica(db: Db, replicaId: string, order: NewDrainOrder): Promise<'draining' | 'not-found'> {
  if (!(await writeOrder(db, replicaId, { ...order, leaving: false }))) return 'not-found'
  await wakeReplica(db, replicaId)
  await freeBlockedKeys(db)
  return 'draining'
}

/** Whether the replica exists. */
export async function writeOrder(
  db: Db,
  replicaId: string,
  { by, deadlineMs, onDeadline = 'by-task', leaving }: CurrentDrain,
): Promise<boolean> {
  const ordered = await db
    .updateTable('q.replica')
    .set((row) => ({
      draining_at: row.fn.coalesce('draining_at', now),
      draining_by: by,
      drain_deadline: deadlineMs === undefined ? null : fromNow(deadlineMs),
      drain_on_deadline: onDeadline,
      ...(leaving ? { leaving_at: row.fn.coalesce('leaving_at', now) } : {}),
    }))
    .where('id', '=', replicaId)
    .where('stopped_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return ordered !== undefined
}

export type UndrainAnswer = 'claiming' | 'leaving' | 'not-draining' | 'not-found'

/** Undoes a drain, unless the replica has begun to leave or its release cannot resume. */
export async function undrainReplica(db: Db, replicaId: string): Promise<UndrainAnswer> {
  // Written in SQL: the answer is judged on the row that was locked, not on an older version of it.
  const { rows } = await sql<{ answer: UndrainAnswer }>`
WITH target AS MATERIALIZED (
  SELECT n.id, CASE WHEN n.stopped_at IS NOT NULL THEN 'not-found' WHEN n.draining_at IS NULL THEN 'not-draining'
    WHEN n.leaving_at IS NOT NULL OR n.level IS NULL THEN 'leaving' ELSE 'claiming' END AS answer
  FROM q.replica n WHERE n.id = ${replicaId} FOR UPDATE
), undone AS (
  UPDATE q.replica n SET draining_at = NULL, draining_by = NULL, drain_deadline = NULL, drain_on_deadline = DEFAULT
  FROM target WHERE n.id = target.id AND target.answer = 'claiming'
)
SELECT answer FROM target`.execute(db)
  const answer = rows[0]?.answer ?? 'not-found'
  if (answer !== 'claiming') return answer
  await wakeReplica(db, replicaId)
  await promoteStartable(db)
  return answer
}

/** Records that a replica leaves because of a signal; its drain cannot be undone from then on. */
export async function announceLeaving(
  db: Db,
  replicaId: string,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<void> {
  await writeOrder(db, replicaId, { by: 'itself', deadlineMs, leaving: true })
  await freeBlockedKeys(db)
}

export type LeaveDecision =
  | { readonly decision: 'leaving'; readonly order: DrainOrder }
  /** The order was replaced by one whose deadline is later. */
  | { readonly decision: 'draining'; readonly order: DrainOrder }
  /** The drain was undone. */
  | { readonly decision: 'claiming' }
  /** The row of the replica was deleted. Its drain cannot be undone. */
  | { readonly decision: 'unknown' }

interface LeaveDecisionRow extends DrainOrder {
  /** Null: no drain is ordered. */
  readonly leaves: boolean | null
}

/** Decides whether a replica that drains by order leaves now: it has finished its runs, or its deadline is reached. */
export async function leaveIfOrdered(
  db: Db,
  replicaId: string,
  { finished }: { readonly finished: boolean },
): Promise<LeaveDecision> {
  // Written in SQL, for the same reason as undrainReplica.
  const { rows } = await sql<LeaveDecisionRow>`
WITH target AS MATERIALIZED (
  SELECT n.id, coalesce(n.draining_by, 'unknown') AS by, n.drain_on_deadline AS "onDeadline",
    (extract(epoch FROM n.drain_deadline - clock_timestamp()) * 1000)::float8 AS "deadlineInMs",
    CASE WHEN n.draining_at IS NOT NULL
      THEN coalesce(${finished}::boolean OR n.leaving_at IS NOT NULL OR n.drain_deadline <= clock_timestamp(), false) END AS leaves
  FROM q.replica n WHERE n.id = ${replicaId} FOR UPDATE
), leaving AS (
  UPDATE q.replica n SET leaving_at = coalesce(n.leaving_at, clock_timestamp()) FROM target WHERE n.id = target.id AND target.leaves
)
SELECT by, "onDeadline", "deadlineInMs", leaves FROM target`.execute(db)
  const [decided] = rows
  if (decided === undefined) return { decision: 'unknown' }
  const { leaves, ...order } = decided
  if (leaves === null) return { decision: 'claiming' }
  return { decision: leaves ? 'leaving' : 'draining', order }
}

async function wakeReplica(db: Db, replicaId: string): Promise<void> {
  await sql`SELECT pg_notify('q_drain', ${replicaId})`.execute(db)
}
