/**
 * Records a gap between heartbeats with the heartbeat that ends it, so nothing is written while heartbeats are on time.
 * Part of the heartbeat statement; reads `previous` (the heartbeat before) and `beat`.
 */
import { sql, type RawBuilder } from 'kysely'

/** As a multiple of the replica's own interval. */
const lateAfter = 1.5

export function recordGap(replicaId: string): RawBuilder<unknown> {
  return sql`
  INSERT INTO q.beat_gap (replica_id, last_beat, ended_at)
  SELECT ${replicaId}, began_at, ended_at FROM (
    SELECT (SELECT last_heartbeat FROM previous) AS began_at, (SELECT last_heartbeat FROM beat) AS ended_at,
      (SELECT n.replica_beat_ms FROM q.replica n WHERE n.id = ${replicaId}) AS beat_ms OFFSET 0) gap
  WHERE ended_at - began_at > beat_ms * ${lateAfter}::float8 * interval '1 ms'
  ON CONFLICT DO NOTHING`
}
