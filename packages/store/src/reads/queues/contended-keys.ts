/**
 * Lists concurrency keys that runs wait for, the most contended first. A loose scan of the index of gated runs finds
 * the keys: one lookup per key, however many runs wait for it. It compares at most a thousand keys.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { slotsOf } from '../../runs/claimable.ts'
import { bounded, countMax, countOf, type Bounded } from '../bounded.ts'

export interface ContendedKey {
  readonly scope: string
  readonly key: string
  readonly limit: number
  readonly waiting: Bounded
  /** At most ten. */
  readonly holders: readonly KeyHolderView[]
}

export interface KeyHolderView {
  readonly runId: RunId
  readonly status: TaskState
  readonly replicaId: string | null
  readonly name: string | null
}

export interface ContendedKeysRequest {
  /** Keys that runs of this queue wait for. */
  readonly queue?: string
  /** At most 100. */
  readonly limit?: number
}

const keysMax = 1_000
/** The bound on counted runs per key; keys above it rank equally. */
const rankMax = 100
const holdersMax = 10

interface KeyRow extends Omit<ContendedKey, 'key' | 'waiting'> {
  readonly gatedKey: string
  readonly waiting: number
}

export async function contendedKeys(db: Db, { queue, limit = 20 }: ContendedKeysRequest = {}): Promise<ContendedKey[]> {
  const waitersOf = (most: number) => sql`
    SELECT FROM q.task_run w WHERE w.gated_key = keys.gated_key ORDER BY w.lane, w.priority, w.id LIMIT ${most}::int`
  const inQueue = sql`
    (${queue ?? null}::text IS NULL OR EXISTS (SELECT FROM q.lane JOIN q.task_run w ON w.lane = lane.id
      WHERE lane.queue = ${queue ?? null}::text AND w.gated_key = keys.gated_key))`
  const { rows } = await sql<KeyRow>`
WITH RECURSIVE walk AS (
  (SELECT r.gated_key FROM q.task_run r WHERE r.gated_key IS NOT NULL ORDER BY r.gated_key LIMIT 1)
  UNION ALL
  SELECT next.gated_key FROM walk CROSS JOIN LATERAL (
    SELECT r.gated_key FROM q.task_run r WHERE r.gated_key > walk.gated_key ORDER BY r.gated_key LIMIT 1) next
), keys AS (SELECT gated_key FROM walk LIMIT ${keysMax}::int),
worst AS MATERIALIZED (
  SELECT keys.gated_key FROM keys WHERE ${inQueue}
  ORDER BY ${countOf(waitersOf(rankMax))} DESC, keys.gated_key LIMIT ${Math.min(Math.max(1, limit), 100)}::int
)
SELECT keys.gated_key AS "gatedKey", one.scope, ${slotsOf(sql.ref('one.scope'))} AS "limit",
  ${countOf(waitersOf(countMax + 1))} AS waiting,
  (SELECT coalesce(jsonb_agg(holder ORDER BY slot), '[]') FROM (
    SELECT h.concurrency_slot AS slot, jsonb_build_object('runId', h.id::text, 'status', h.status,
      'replicaId', CASE WHEN h.held THEN h.replica_id END, 'name', CASE WHEN h.held THEN n.name END) AS holder
    FROM q.task_run h LEFT JOIN q.replica n ON n.id = h.replica_id
    WHERE h.concurrency_key = keys.gated_key AND h.concurrency_slot IS NOT NULL ORDER BY h.concurrency_slot LIMIT ${holdersMax}::int) held) AS holders
FROM worst keys CROSS JOIN LATERAL (
  SELECT w.concurrency_scope AS scope FROM q.task_run w WHERE w.gated_key = keys.gated_key LIMIT 1) one`.execute(db)
  return rows
    .map(({ gatedKey, waiting, ...row }) => ({
      ...row,
      // The scope is the first part of the stored key.
      key: gatedKey.slice(row.scope.length + 1),
      waiting: bounded(waiting),
    }))
    .toSorted((a, b) => b.waiting.count - a.waiting.count)
}
