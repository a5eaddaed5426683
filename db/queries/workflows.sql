-- Live workflows, the oldest first, with their open steps by state and gate.
SELECT w.id, w.name, w.status, w.created_at, w.open_steps, w.paused_by,
  (SELECT string_agg(step.state || ' ' || step.steps, ', ') FROM (
    SELECT concat_ws(' ', s.status, s.waiting_for) AS state, count(*) AS steps
    FROM (SELECT r.status, r.waiting_for FROM q.task_run r WHERE r.workflow_id = w.id AND r.finished_at IS NULL LIMIT 10000) s GROUP BY 1) step) AS steps
FROM (SELECT * FROM q.workflow WHERE finished_at IS NULL ORDER BY id LIMIT 50) w ORDER BY w.id;
