-- Sessions that wait for a lock, and the session that has it. q itself waits for no lock of a run that another session settles.
SELECT waits.pid, waits.application_name AS waiting, clock_timestamp() - waits.query_start AS waits_for, left(waits.query, 80) AS query,
  has.pid AS blocked_by, has.application_name AS holder, has.state AS holder_state, clock_timestamp() - has.xact_start AS holder_since, left(has.query, 80) AS holder_query
FROM pg_stat_activity waits CROSS JOIN LATERAL unnest(pg_blocking_pids(waits.pid)) AS blocking(pid)
JOIN pg_stat_activity has ON has.pid = blocking.pid
WHERE waits.datname = current_database() ORDER BY waits.query_start LIMIT 100;
