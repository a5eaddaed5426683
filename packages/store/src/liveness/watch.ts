/**
 * The watch over presence: the watcher checks which locks are missing, and its deputy checks whether the watcher is
 * alive. Both duties are leases (`q.duty`), because a stopped process would keep a session lock.
 *
 * One statement takes or renews a duty and, for the watcher, marks the locks that are missing or back. If the watcher's
 * lock is gone, the deputy becomes the watcher at its next check, without waiting for the end of the lease. A replica
 * without a duty scans no locks: it asks again when the deputy's lease would end. Two watchers at once do no harm.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { evidenceOf, heldLocks, type MissingReplica } from './presence.ts'

export interface WatchRequest {
  readonly replicaId: string
  /** The name of the watcher's duty. */
  readonly duty: string
  /** The term of each lease. */
  readonly watcherMs: number
  readonly deputyMs: number
}

export interface WatchAnswer {
  readonly post: 'watcher' | 'deputy' | 'none'
  /** Time until the deputy's lease ends. */
  readonly untilInMs: number
  /** The time of the database's clock, in ms since 1970. */
  readonly clockMs: number
  /** For the watcher: the replicas whose lock is missing and that still hold runs. */
  readonly gone: readonly MissingReplica[]
}

/** The name of the deputy's duty. */
export function deputyOf(duty: string): string {
  return `${duty} deputy`
}

export async function watchPresence(db: Db, request: WatchRequest): Promise<WatchAnswer> {
  const { replicaId, duty, watcherMs, deputyMs } = request
  const clock = sql`clock_timestamp()`
  const isWatcher = sql`EXISTS (SELECT FROM taken WHERE rank = 1)`
  const goneAt = sql`coalesce(marked.gone_at, seen.gone_at)`
  const goneForMs = sql`CASE WHEN coalesce(seen.last_heartbeat < ${goneAt}, true)
    THEN greatest(0, extract(epoch FROM ${clock} - ${goneAt}) * 1000) ELSE 0 END`
  // Written in SQL as one statement: the duties, the lock table of the server and our records are one round trip and
  // one commit.
  const { rows } = await sql<WatchAnswer>`
WITH held AS MATERIALIZED (${heldLocks}
), posts AS MATERIALIZED (
  SELECT post.*, duty.holder, duty.until
  FROM (VALUES (1, ${duty}, ${watcherMs}::float8), (2, ${deputyOf(duty)}, ${deputyMs}::float8)) AS post(rank, name, ms)
    LEFT JOIN q.duty ON duty.name = post.name
), vacant AS MATERIALIZED (
  SELECT rank, name, until, ${clock} + ms * interval '1 ms' AS next FROM posts
  WHERE holder IS NULL OR holder = ${replicaId} OR until NOT BETWEEN ${clock} AND ${clock} + ms * interval '1 ms'
    OR (rank = 1 AND EXISTS (SELECT FROM posts deputy WHERE deputy.rank = 2 AND deputy.holder = ${replicaId})
      AND EXISTS (SELECT FROM q.presence p WHERE p.replica_id = posts.holder AND p.server_start = pg_postmaster_start_time()
        AND p.num NOT IN (SELECT num FROM held)))
  ORDER BY rank LIMIT 1
), renewed AS (
  INSERT INTO q.duty AS duty (name, holder, until) SELECT name, ${replicaId}, next FROM vacant
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE duty.holder = excluded.holder OR duty.until = (SELECT until FROM vacant)
  RETURNING name
), taken AS MATERIALIZED (
  SELECT rank FROM vacant JOIN renewed USING (name)
), promoted AS (
  DELETE FROM q.duty WHERE name = ${deputyOf(duty)} AND holder = ${replicaId} AND ${isWatcher}
), seen AS MATERIALIZED (
  SELECT p.num, p.replica_id, p.gone_at, held.num IS NULL AS gone, n.presence_grace_ms, beat.last_heartbeat
  FROM q.presence p JOIN q.replica n ON n.num = p.num AND n.id = p.replica_id
    LEFT JOIN q.replica_heartbeat beat ON beat.replica_id = p.replica_id LEFT JOIN held ON held.num = p.num
  WHERE p.server_start = pg_postmaster_start_time() AND ${isWatcher}
), marked AS (
  UPDATE q.presence p SET gone_at = CASE WHEN seen.gone THEN ${clock} END
  FROM seen WHERE p.num = seen.num AND (p.gone_at IS NOT NULL) <> seen.gone
  RETURNING p.num, p.gone_at
), missing AS (
  SELECT seen.replica_id AS "replicaId", ${evidenceOf(sql`seen.replica_id`, goneAt, sql`seen.last_heartbeat`)} AS evidence,
    ${goneForMs} AS "goneForMs", presence_grace_ms AS "graceMs"
  FROM seen LEFT JOIN marked ON marked.num = seen.num
  WHERE gone AND ${goneAt} IS NOT NULL
    AND EXISTS (SELECT FROM q.task_run r WHERE r.held AND r.replica_id = seen.replica_id)
)
SELECT CASE (SELECT rank FROM taken) WHEN 1 THEN 'watcher' WHEN 2 THEN 'deputy' ELSE 'none' END AS post,
  (SELECT coalesce(greatest(0, extract(epoch FROM until - ${clock}) * 1000), 0)::float8 FROM posts WHERE rank = 2) AS "untilInMs",
  (extract(epoch FROM ${clock}) * 1000)::float8 AS "clockMs",
  coalesce((SELECT jsonb_agg(missing) FROM missing), '[]') AS gone`.execute(db)
  const answer = rows[0]
  if (answer === undefined) throw new Error('The watch statement returned no row.')
  return answer
}
