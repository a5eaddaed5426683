-- Concurrency keys with the most waiting runs, of the first 10 000 waiting runs, and the runs that hold them.
SELECT replace(waiting.key, chr(31), ' ') AS key, waiting.runs AS waiting, waiting.first_run, holder.id AS holder, holder.status, holder.task,
  coalesce(n.name, holder.replica_id) AS node, holder.started_at
FROM (
  SELECT gated_key AS key, count(*) AS runs, min(id) AS first_run
  FROM (SELECT gated_key, id FROM q.task_run WHERE gated_key IS NOT NULL ORDER BY gated_key, lane, priority, id LIMIT 10000) first GROUP BY gated_key
) waiting
LEFT JOIN q.task_run holder ON holder.concurrency_key = waiting.key AND holder.concurrency_slot IS NOT NULL
LEFT JOIN q.replica n ON n.id = holder.replica_id
ORDER BY waiting.runs DESC, waiting.key LIMIT 50;
