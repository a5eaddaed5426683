/**
 * PENDING → AVAILABLE, through the gates `time` and then `concurrency`
 *
 * Any replica may do it at any time. Time: SKIP LOCKED makes two of them share the work. Concurrency: a slot is a place
 * in a unique index, so two holders of one slot cannot exist; who takes a free slot first holds an advisory lock for
 * the key, then looks with a new snapshot. A settling run hands its slot on by itself (leave.ts); what is done here is
 * for slots that nobody handed on. Whoever commits last, an enqueue or a settle, sees the other: both promote after.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../prepared.ts'
import { isLockTimeout } from '../sql-state.ts'
import { freeSlots, isDue } from './claimable.ts'
import type { Left } from './leave.ts'

/** Namespace of the locks by key. */
const keyLocks = 0x71_6b_65_79

/** Promoted by one statement: also what keeps PostgreSQL from reading the whole table for fear of many. */
const heirsMax = 1_000

/** Each key is a lock, and the server has room for a limited number of them. */
const keysAtOnceMax = 500

/** For a lock that somebody else has. */
const lockMsMax = 250

/** Ids that can be claimed now; `looked` as many as `limit` means there may be more. */
export async function promoteDueTaskRuns(db: Db, limit: number): Promise<{ ids: RunId[]; looked: number }> {
  const { rows } = await db.executeQuery(promoteStatement(limit))
  const ready = rows.filter((row) => row.key === null).map((row) => row.id)
  const keys = rows.flatMap((row) => row.key ?? [])
  return { ids: [...ready, ...(await promoteKeys(db, keys))], looked: rows.length }
}

/** When the next gated run is due, in ms from now by the database's clock; undefined when there is none. */
export async function nextDueInMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ due_in_ms: number | null }>`
    SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 * 1000 AS due_in_ms
    FROM q.task_run WHERE due_at IS NOT NULL`.execute(db)
  const due = rows[0]?.due_in_ms ?? null
  return due === null ? undefined : Math.max(0, due)
}

/** Fills the free slots of these keys with the runs that wait for them. */
export async function promoteKeys(db: Db, keys: readonly string[]): Promise<RunId[]> {
  const promoted: RunId[] = []
  for (let first = 0; first < keys.length; first += keysAtOnceMax) {
    promoted.push(...(await promoteSome(db, keys.slice(first, first + keysAtOnceMax))))
  }
  return promoted
}

/** A key that somebody's open transaction has locked is left to the sweep, and does not hold up the others. */
async function promoteSome(db: Db, keys: readonly string[]): Promise<RunId[]> {
  if (db.isTransaction) return promoteLocked(db, keys)
  try {
    return await db.transaction().execute(async (trx) => {
      await limitLockWaits(trx)
      return promoteLocked(trx, keys)
    })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    if (keys.length === 1) return []
    const half = Math.ceil(keys.length / 2)
    return [...(await promoteSome(db, keys.slice(0, half))), ...(await promoteSome(db, keys.slice(half)))]
  }
}

/** In this transaction nobody is waited for longer than a moment. */
export async function limitLockWaits(trx: Db): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(lockMsMax)}, true)`.execute(trx)
}

async function promoteLocked(trx: Db, keys: readonly string[]): Promise<RunId[]> {
  // In the order of the locks, not of the keys: two keys may share one.
  await sql`SELECT pg_advisory_xact_lock(${keyLocks}, lock) FROM (
    SELECT DISTINCT hashtext(key) AS lock FROM unnest(${keys}::text[]) key ORDER BY lock) sorted`.execute(trx)
  const promoted: RunId[] = []
  for (;;) {
    const { rows } = await trx.executeQuery(promoteKeysStatement(keys))
    promoted.push(...rows.map((row) => row.id))
    if (rows.length < heirsMax) return promoted
  }
}

/**
 * After leaving: slots that found no successor may have got one meanwhile. What was committed before does not fail
 * because this does: the sweep catches it.
 */
export async function promoteOpenKeys(db: Db, left: readonly Left[]): Promise<void> {
  const promoted = promoteKeys(db, [...new Set(left.flatMap((run) => run.openKey ?? []))])
  await (db.isTransaction ? promoted : promoted.catch(() => []))
}

/** The backstop for a process that died between a commit and its promotion: all keys that runs wait for. */
export async function sweepGatedKeys(db: Db, limit: number): Promise<RunId[]> {
  const { rows } = await sql<{ key: string }>`
WITH RECURSIVE gated AS (
  (SELECT gated_key AS key, 1 AS place FROM q.task_run WHERE gated_key IS NOT NULL ORDER BY gated_key LIMIT 1)
  UNION ALL
  SELECT next.gated_key, gated.place + 1 FROM gated CROSS JOIN LATERAL (
    SELECT gated_key FROM q.task_run WHERE gated_key > gated.key ORDER BY gated_key LIMIT 1) next
  WHERE gated.place < ${limit}
) SELECT key FROM gated`.execute(db)
  return promoteKeys(
    db,
    rows.map((row) => row.key),
  )
}

export function promoteStatement(limit: number): CompiledQuery<{ id: RunId; key: string | null }> {
  return promoteDue({ limit })
}

export function promoteKeysStatement(keys: readonly string[]): CompiledQuery<{ id: RunId }> {
  return promote({ keys })
}

// A whole statement by hand: the limited, locked set must be materialised before the update.
const promoteDue = prepared<{ limit: number }, { id: RunId; key: string | null }>(
  'promote-due',
  ({ limit }) => sql<{ id: RunId; key: string | null }>`
WITH due AS MATERIALIZED (
  SELECT r.id FROM q.task_run r WHERE ${isDue}
  ORDER BY r.due_at, r.id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE q.task_run SET
  status = CASE WHEN concurrency_key IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status,
  waiting_for = CASE WHEN concurrency_key IS NULL THEN NULL ELSE 'concurrency' END,
  updated_at = clock_timestamp()
WHERE id = ANY(ARRAY(SELECT id FROM due))
RETURNING id, concurrency_key AS key`,
)

// A whole statement by hand: heads of the keys times their free slots, a row at most once.
const promote = prepared<{ keys: readonly string[] }, { id: RunId }>(
  'promote-keys',
  ({ keys }) => sql<{ id: RunId }>`
WITH free AS MATERIALIZED (
  SELECT wanted.key, array_agg(slot ORDER BY slot) AS slots
  FROM (SELECT DISTINCT key FROM unnest(${keys}::text[]) key) wanted
  CROSS JOIN LATERAL (SELECT n.concurrency_scope AS scope FROM q.task_run n WHERE n.gated_key = wanted.key LIMIT 1) head
  CROSS JOIN LATERAL (${freeSlots(sql.ref('wanted.key'), sql.ref('head.scope'))}) open
  GROUP BY wanted.key
), heirs AS MATERIALIZED (
  SELECT ranked.id, free.slots[ranked.place] AS slot FROM free CROSS JOIN LATERAL (
    SELECT head.id, row_number() OVER () AS place FROM (
      SELECT n.id FROM q.task_run n WHERE n.gated_key = free.key
      ORDER BY n.priority, n.id LIMIT cardinality(free.slots) FOR NO KEY UPDATE SKIP LOCKED) head) ranked
  LIMIT ${heirsMax}::int
)
UPDATE q.task_run r SET status = 'AVAILABLE', waiting_for = NULL, concurrency_slot = heirs.slot, updated_at = clock_timestamp()
FROM heirs WHERE r.id = heirs.id
RETURNING r.id`,
)
