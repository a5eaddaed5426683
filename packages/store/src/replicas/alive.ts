/**
 * Decides whether a replica counts as alive in names, node lists, `why`, gauges and idle marks: by its own registered
 * threshold, its presence and the clock of the database. It recovers nothing: liveness/stale.ts decides whose runs are
 * recovered. In these fragments `n` is a row of q.replica and `h` its heartbeat, if any.
 */
import { sql, type RawBuilder } from 'kysely'
import { heldLocks } from '../liveness/presence.ts'

export type NodeState = 'alive' | 'draining' | 'stale' | 'stopped'

/** Null: the replica has no heartbeat. */
export const beatAgeMs: RawBuilder<number | null> = sql<number | null>`
  (extract(epoch FROM clock_timestamp() - h.last_heartbeat) * 1000)::float8`

/** Whether its presence lock has been missing for longer than its grace, on this start of the server, without a heartbeat since. */
export const isGone: RawBuilder<boolean> = sql<boolean>`
  EXISTS (SELECT FROM q.presence p WHERE p.num = n.num AND p.replica_id = n.id AND p.server_start = pg_postmaster_start_time()
    AND p.gone_at < clock_timestamp() - n.presence_grace_ms * interval '1 ms' AND h.last_heartbeat < p.gone_at)`

/** Whether no replica watches presence, so that missing locks are not recorded. */
const isUnwatched = sql<boolean>`
  NOT EXISTS (SELECT FROM q.duty WHERE duty.name LIKE 'presence%' AND duty.until > clock_timestamp())`

/**
 * Whether no replica watches, its presence lock is missing, and its last heartbeat is older than its grace: the last
 * replica was killed. The lock table of the server is read only in this case.
 */
export const isGoneUnwatched: RawBuilder<boolean> = sql<boolean>`
  (${isUnwatched} AND h.last_heartbeat < clock_timestamp() - n.presence_grace_ms * interval '1 ms'
    AND EXISTS (SELECT FROM q.presence p WHERE p.num = n.num AND p.replica_id = n.id
      AND p.server_start = pg_postmaster_start_time() AND p.num NOT IN (${heldLocks})))`

/**
 * Whether its last heartbeat is younger than its threshold. A heartbeat from further in the future than that was sent
 * before the clock stepped back.
 */
const isHeartbeatFresh = sql<boolean>`coalesce(h.last_heartbeat > clock_timestamp() - n.replica_stale_ms * interval '1 ms'
  AND h.last_heartbeat < clock_timestamp() + n.replica_stale_ms * interval '1 ms', false)`

/**
 * Whether the replica has not stopped, the watcher has not recorded its presence as gone, and its last heartbeat is
 * within its threshold. It may be draining. For statements of live replicas, one of which watches.
 */
export const isAliveAsWatched: RawBuilder<boolean> = sql<boolean>`
  (n.stopped_at IS NULL AND ${isHeartbeatFresh}
    AND NOT ${isGone})`

/** The same, and also correct after the last replica was killed, when no watcher is left. */
export const isAlive: RawBuilder<boolean> = sql<boolean>`
  (${isAliveAsWatched} AND NOT ${isGoneUnwatched})`

export const isDraining: RawBuilder<boolean> = sql<boolean>`(n.draining_at IS NOT NULL)`

export const nodeState: RawBuilder<NodeState> = sql<NodeState>`
  CASE WHEN n.stopped_at IS NOT NULL THEN 'stopped' WHEN NOT ${isAlive} THEN 'stale' WHEN ${isDraining} THEN 'draining'
  ELSE 'alive' END`
