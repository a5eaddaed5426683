-- Ready runs by queue and task, counted up to 10 001, and the age of the oldest of each priority's first group.
SELECT lane.queue, lane.task, lane.requires, ready.runs AS ready, round(extract(epoch FROM clock_timestamp() - head.run_at)::numeric, 1) AS head_waits_s,
  queue.paused_at, queue.paused_by, queue.pause_reason
FROM q.lane LEFT JOIN q.queue ON queue.name = lane.queue
CROSS JOIN LATERAL (SELECT count(*) AS runs FROM (
  SELECT FROM q.task_run r WHERE r.ready AND r.lane = lane.id ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 10001) counted) ready
LEFT JOIN LATERAL (SELECT r.run_at FROM q.task_run r WHERE r.ready AND r.lane = lane.id ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 1) head ON true
WHERE ready.runs > 0 ORDER BY head.run_at LIMIT 200;
