-- Each replica that has not stopped, the longest silent first. `lost`: silent for longer than its own threshold.
SELECT n.name, n.id, n.hostname, n.pid, n.version,
  CASE WHEN h.last_heartbeat IS NULL OR h.last_heartbeat < clock_timestamp() - n.replica_stale_ms * interval '1 ms' THEN 'lost'
    WHEN n.draining_at IS NOT NULL THEN 'draining' ELSE 'alive' END AS state,
  round(extract(epoch FROM clock_timestamp() - h.last_heartbeat)::numeric, 1) AS silent_s, n.replica_stale_ms / 1000.0 AS stale_after_s,
  h.active_runs, h.free_slots, h.health, n.draining_by, n.drain_deadline
FROM q.replica n LEFT JOIN q.replica_heartbeat h ON h.replica_id = n.id
WHERE n.stopped_at IS NULL ORDER BY h.last_heartbeat NULLS FIRST LIMIT 200;
