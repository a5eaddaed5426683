-- Heartbeats that could not be sent, the last first. A replica that reaches its threshold loses its runs.
SELECT f.failed_at, coalesce(n.name, f.replica_id) AS node, f.consecutive, f.error
FROM (SELECT * FROM q.heartbeat_failure ORDER BY failed_at DESC LIMIT 100) f
LEFT JOIN q.replica n ON n.id = f.replica_id ORDER BY f.failed_at DESC;
