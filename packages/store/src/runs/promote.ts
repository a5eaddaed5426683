/**
 * PENDING → AVAILABLE, through the gates `time` and then `concurrency`
 *
 * Any replica may promote at any time. Time: SKIP LOCKED lets two replicas share the work. Concurrency: a slot is a
 * place in a unique index, so a slot cannot have two holders; a promotion takes an advisory lock for the key, then
 * reads with a new snapshot. A settling run hands its slot on itself (transition.ts); the promotion handles slots that
 * no settle handed on, and slots of runs that cannot start or are less urgent than a waiting run (keys-statement.ts).
 * Enqueue and settle both promote after their commit, so the later of the two sees the other.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { isLockTimeout } from '../connection/sql-state.ts'
import { isDue, slotsOf } from './claimable.ts'
import { successorsMax, promoteKeysStatement, type MovedRun } from './keys-statement.ts'
import type { Transitioned } from './transition.ts'
import { wakesForReady } from './ready-wakes.ts'
import { startRank } from './startable.ts'

/** Namespace of the locks by key. */
const keyLocks = 0x71_6b_65_79

/** Each key is a lock, and the server has room for a limited number of them. */
const keysAtOnceMax = 500

/** Where the next sweep begins: each sweep reads a bounded number of keys, and the next one continues after them. */
export interface KeyCursor {
  after: string
  readonly keysMax: number
}

export function newKeyCursor(): KeyCursor {
  return { after: '', keysMax: 20_000 }
}

/** Keys that are promoted when a queue is paused or resumed; the sweep finds the rest. */
const keysOfQueueMax = 10_000

/** The longest wait for a lock that another session holds. */
const lockMsMax = 250

/** Returns the ids of runs that can be claimed now. If `looked` equals `limit`, there may be more. */
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
    FROM q.task_run WHERE due_at < 'infinity'`.execute(db)
  const due = rows[0]?.due_in_ms ?? null
  return due === null ? undefined : Math.max(0, due)
}

/** Gives the slots of these keys to the runs that should hold them; returns the runs that got one. */
export async function promoteKeys(db: Db, keys: readonly string[]): Promise<RunId[]> {
  return (await moveRunsOf(db, keys)).filter(({ status }) => status === 'AVAILABLE').map(({ id }) => id)
}

/** The same; returns the runs that got a slot, and those that gave theirs up. */
export async function moveRunsOf(db: Db, keys: readonly string[]): Promise<MovedRun[]> {
  // A transaction keeps its locks, so it takes all of them in one order.
  if (db.isTransaction) await lockKeys(db, keys)
  const moved: MovedRun[] = []
  for (let first = 0; first < keys.length; first += keysAtOnceMax) {
    moved.push(...(await promoteSome(db, keys.slice(first, first + keysAtOnceMax))))
  }
  return moved
}

/** Leaves a key that another transaction has locked to the sweep, so that it does not block the others. */
async function promoteSome(db: Db, keys: readonly string[]): Promise<MovedRun[]> {
  if (db.isTransaction) return promoteLocked(db, keys)
  try {
    return await db.transaction().execute(async (trx) => {
      await limitLockWaits(trx)
      await lockKeys(trx, keys)
      return promoteLocked(trx, keys)
    })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    if (keys.length === 1) return []
    const half = Math.ceil(keys.length / 2)
    return [...(await promoteSome(db, keys.slice(0, half))), ...(await promoteSome(db, keys.slice(half)))]
  }
}

/** Sets a short limit for every lock wait of this transaction. */
export async function limitLockWaits(trx: Db): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(lockMsMax)}, true)`.execute(trx)
}

/** Locks in the order of the lock numbers, not of the keys: two keys may share a lock. */
async function lockKeys(trx: Db, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await sql`SELECT count(pg_advisory_xact_lock(${keyLocks}, lock))::int AS locked FROM (
    SELECT DISTINCT hashtext(key) AS lock FROM unnest(${keys}::text[]) key ORDER BY lock) sorted`.execute(trx)
}

async function promoteLocked(trx: Db, keys: readonly string[]): Promise<MovedRun[]> {
  const moved: MovedRun[] = []
  for (;;) {
    const { rows } = await trx.executeQuery(promoteKeysStatement(keys))
    moved.push(...rows)
    if (rows.length < successorsMax) return moved
  }
}

/**
 * After a transition: slots without a successor may have one by now. An error here does not fail what was committed
 * before: the sweep promotes later.
 */
export async function promoteOpenKeys(db: Db, changed: readonly Transitioned[]): Promise<void> {
  await bestEffort(db, promoteKeys(db, [...new Set(changed.flatMap((run) => run.openKey ?? []))]))
}

/** Outside a transaction, ignores an error: the sweep promotes later. */
async function bestEffort(db: Db, promoted: Promise<unknown>): Promise<void> {
  await (db.isTransaction ? promoted : promoted.catch(() => {}))
}

/**
 * The backstop: promotes keys with a free slot, or with a slot that an AVAILABLE run should not hold; a bounded number.
 * It skips keys whose runs cannot start or rightly wait, so however many there are, the other keys are reached.
 */
export async function sweepGatedKeys(db: Db, limit: number, walk: KeyCursor = newKeyCursor()): Promise<RunId[]> {
  // Written in SQL: all lanes are judged once, all keys by their indexes.
  const { rows } = await sql<{ keys: string[]; isFull: boolean; last: string | null }>`
WITH RECURSIVE ranks AS MATERIALIZED (
  SELECT lane.id, ${startRank} AS rank FROM q.lane
  WHERE EXISTS (SELECT FROM q.task_run WHERE gated_key IS NOT NULL)
    OR EXISTS (SELECT FROM q.task_run r WHERE r.ready AND r.concurrency_slot IS NOT NULL)
), lanes AS MATERIALIZED (
  SELECT coalesce(array_agg(id) FILTER (WHERE rank = 0), '{}') AS served,
    coalesce(array_agg(id) FILTER (WHERE rank IS NOT NULL), '{}') AS startable FROM ranks
), gated AS (
  (SELECT gated_key AS key, 1 AS ordinal FROM q.task_run WHERE gated_key > ${walk.after} ORDER BY gated_key LIMIT 1)
  UNION ALL
  SELECT next.gated_key, gated.ordinal + 1 FROM gated CROSS JOIN LATERAL (
    SELECT gated_key FROM q.task_run WHERE gated_key > gated.key ORDER BY gated_key LIMIT 1) next
  WHERE gated.ordinal < ${walk.keysMax}::int
), open AS (
  SELECT gated.key FROM gated CROSS JOIN lanes
  WHERE EXISTS (SELECT FROM q.task_run n WHERE n.gated_key = gated.key AND n.lane = ANY(lanes.startable))
    AND ((SELECT count(*) FROM q.task_run r WHERE r.concurrency_key = gated.key AND r.concurrency_slot IS NOT NULL)
        < ${slotsOf(sql`split_part(gated.key, chr(31), 1)`)}
      OR EXISTS (SELECT FROM q.task_run r
        WHERE r.concurrency_key = gated.key AND r.concurrency_slot IS NOT NULL AND r.status = 'AVAILABLE'
          AND (EXISTS (SELECT FROM q.task_run n WHERE n.gated_key = gated.key AND n.priority < r.priority
              AND n.lane = ANY(CASE WHEN r.lane = ANY(lanes.served) THEN lanes.served ELSE lanes.startable END))
            OR r.lane <> ALL(lanes.served)
              AND EXISTS (SELECT FROM q.task_run n WHERE n.gated_key = gated.key AND n.lane = ANY(lanes.served)))))
  LIMIT ${limit}::int
), blocked AS (${blockedKeysQuery(sql`ranks`, limit)})
SELECT ARRAY(SELECT key FROM open UNION SELECT key FROM blocked) AS keys, found.full AS "isFull",
  CASE WHEN NOT found.full THEN (SELECT key FROM gated WHERE ordinal = ${walk.keysMax}::int) END AS last
FROM (SELECT count(*) >= ${limit}::int AS full FROM open) found`.execute(db)
  const [{ keys, isFull, last } = { keys: [], isFull: false, last: null }] = rows
  if (!isFull) walk.after = last ?? ''
  return promoteKeys(db, keys)
}

/** After a queue was resumed: promotes the keys that its runs wait for. */
export function promoteQueue(db: Db, queue: string): Promise<void> {
  return bestEffort(db, promoteRunsOf(db, queue))
}

async function promoteRunsOf(db: Db, queue: string): Promise<RunId[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM q.lane WHERE queue = ${queue}`.execute(db)
  const lanes = rows.map(({ id }) => id)
  return promoteKeys(db, await gatedKeys(db, keysOfQueueMax, lanes))
}

/** After a replica claims again: promotes the keys that its runs wait for. */
export function promoteStartable(db: Db): Promise<void> {
  return bestEffort(db, sweepGatedKeys(db, keysOfQueueMax))
}

/** After a queue was paused or a replica was drained: AVAILABLE runs that cannot start give up their slots. */
export function freeBlockedKeys(db: Db): Promise<void> {
  return bestEffort(
    db,
    blockedKeys(db, keysOfQueueMax).then((keys) => promoteKeys(db, keys)),
  )
}

/** Keys that runs of some lanes wait for. */
async function gatedKeys(db: Db, limit: number, lanes: readonly number[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
WITH RECURSIVE gated AS (
  (SELECT gated_key AS key FROM q.task_run WHERE gated_key IS NOT NULL ORDER BY gated_key LIMIT 1)
  UNION ALL
  SELECT next.gated_key FROM gated CROSS JOIN LATERAL (
    SELECT gated_key FROM q.task_run WHERE gated_key > gated.key ORDER BY gated_key LIMIT 1) next
) SELECT key FROM gated
WHERE EXISTS (SELECT FROM q.task_run n WHERE n.gated_key = gated.key AND n.lane = ANY(${lanes}::int[])) LIMIT ${limit}`.execute(
    db,
  )
  return rows.map((row) => row.key)
}

/** Keys with a slot that is held by an AVAILABLE run that cannot start. */
async function blockedKeys(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
WITH held AS MATERIALIZED (
  SELECT lane.* FROM q.lane WHERE EXISTS (
    SELECT FROM q.task_run r WHERE r.ready AND r.concurrency_slot IS NOT NULL AND r.lane = lane.id)
), ranks AS MATERIALIZED (SELECT lane.id, ${startRank} AS rank FROM held lane)
${blockedKeysQuery(sql`ranks`, limit)}`.execute(db)
  return rows.map((row) => row.key)
}

/** The query of `blockedKeys`. `ranks`: lanes, and whether their runs can start. */
function blockedKeysQuery(ranks: RawBuilder<unknown>, limit: number): RawBuilder<{ key: string }> {
  return sql<{ key: string }>`
  SELECT DISTINCT held.key FROM ${ranks} AS own CROSS JOIN LATERAL (
    SELECT r.concurrency_key AS key FROM q.task_run r
    WHERE r.ready AND r.concurrency_slot IS NOT NULL AND r.lane = own.id LIMIT ${limit}::int) held
  WHERE own.rank IS NULL LIMIT ${limit}::int`
}

export function promoteStatement(limit: number): CompiledQuery<{ id: RunId; key: string | null }> {
  return promoteDue({ limit })
}

// Written in SQL: the limited, locked set must be materialised before the update.
const promoteDue = prepared<{ limit: number }, { id: RunId; key: string | null }>(
  'promote-due',
  ({ limit }) => sql<{ id: RunId; key: string | null }>`
WITH due AS MATERIALIZED (
  SELECT r.id FROM q.task_run r WHERE ${isDue}
  ORDER BY r.due_at, r.id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
), passed AS (
  UPDATE q.task_run SET
    status = CASE WHEN concurrency_key IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status,
    waiting_for = CASE WHEN concurrency_key IS NULL THEN NULL ELSE 'concurrency' END,
    updated_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT id FROM due))
  RETURNING id, concurrency_key AS key, lane
), ready AS (
  SELECT lane FROM passed WHERE key IS NULL
), ${wakesForReady(sql`ready`)}
SELECT id, key FROM passed LEFT JOIN announced ON true`,
)
