-- Runs that replicas hold: those of unknown or silent replicas first, then the longest. A run of a lost replica that stays here for minutes
-- is not recovered: is a replica alive, and is recovery switched on? q recover --dry-run
SELECT r.id, r.task, r.status, r.attempt, coalesce(n.name, r.replica_id) AS node,
  round(extract(epoch FROM clock_timestamp() - h.last_heartbeat)::numeric, 1) AS node_silent_s,
  round(extract(epoch FROM clock_timestamp() - coalesce(r.started_at, r.claimed_at))::numeric, 1) AS held_s,
  round(extract(epoch FROM clock_timestamp() - b.sent_at)::numeric, 1) AS run_silent_s, b.progress, b.note, r.cancel_requested_at
FROM (SELECT * FROM q.task_run WHERE held ORDER BY replica_id LIMIT 10000) r
LEFT JOIN q.replica n ON n.id = r.replica_id LEFT JOIN q.replica_heartbeat h ON h.replica_id = r.replica_id
LEFT JOIN q.task_heartbeat b ON b.run_id = r.id AND b.fence = r.fence AND b.role = 'runner'
ORDER BY h.last_heartbeat NULLS FIRST, held_s DESC LIMIT 200;
