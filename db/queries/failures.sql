-- The last attempts that failed or crashed. q show <run> has the stack and the log lines.
SELECT a.ended_at, a.run_id, r.task, a.attempt, a.outcome, a.code, left(a.detail, 120) AS detail, coalesce(n.name, a.replica_id) AS node, a.fingerprint
FROM (SELECT * FROM q.task_attempt ORDER BY ended_at DESC LIMIT 1000) a
LEFT JOIN q.task_run r ON r.id = a.run_id LEFT JOIN q.replica n ON n.id = a.replica_id
WHERE a.outcome IN ('failed', 'crashed', 'retried') ORDER BY a.ended_at DESC LIMIT 50;
