-- Ready runs that no live replica can take: no replica knows the task, works on the queue, or has what it requires.
SELECT lane.queue, lane.task, lane.requires, head.id AS sample_run, head.run_at AS ready_since
FROM q.lane CROSS JOIN LATERAL (
  SELECT r.id, r.run_at FROM q.task_run r WHERE r.ready AND r.lane = lane.id ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 1) head
WHERE NOT EXISTS (
  SELECT FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
  WHERE n.stopped_at IS NULL AND n.draining_at IS NULL AND h.last_heartbeat > clock_timestamp() - n.replica_stale_ms * interval '1 ms'
    AND lane.task = ANY(n.tasks) AND (n.queues = '{}' OR lane.queue = ANY(n.queues)) AND lane.requires <@ n.capabilities)
ORDER BY head.run_at LIMIT 200;
