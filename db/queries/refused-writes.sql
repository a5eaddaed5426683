-- Writes under a lost lease in the last day: code that continued after its run had been recovered or released. The database refused them.
SELECT e.happened_at, e.run_id, r.task, e.kind, e.fence, r.fence AS fence_now, coalesce(n.name, e.replica_id) AS node
FROM q.task_event e LEFT JOIN q.task_run r ON r.id = e.run_id LEFT JOIN q.replica n ON n.id = e.replica_id
WHERE e.kind LIKE 'refused-%' AND e.happened_at > clock_timestamp() - interval '1 day'
ORDER BY e.happened_at DESC LIMIT 100;
