-- Runs of dead replicas that others recovered, the last first. FAILED and not reviewed: the code may have done part of its work. q review
SELECT v.recovered_at, v.run_id, r.task, v.was, v.became, v.cause, v.beat_age_ms, coalesce(lost.name, v.replica_id) AS lost_node,
  coalesce(by.name, v.recovered_by) AS recovered_by, v.reviewed_by
FROM (SELECT * FROM q.recovery ORDER BY id DESC LIMIT 100) v
LEFT JOIN q.task_run r ON r.id = v.run_id
LEFT JOIN q.replica lost ON lost.id = v.replica_id LEFT JOIN q.replica by ON by.id = v.recovered_by
ORDER BY v.id DESC;
