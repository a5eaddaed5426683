-- Sessions of this database by program and state, against the limit of the server. End one: SELECT pg_terminate_backend(<pid>);
SELECT application_name, usename, state, count(*) AS sessions, max(clock_timestamp() - state_change) AS longest_in_state, min(pid) AS sample_pid,
  current_setting('max_connections')::int AS max_connections
FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1, 2, 3 ORDER BY count(*) DESC LIMIT 100;
