-- Sessions, prepared transactions and replication slots that keep dead rows from being removed, the oldest first. End a session: SELECT pg_terminate_backend(<pid>);
SELECT * FROM (
  SELECT 'session' AS kind, pid, application_name AS name, usename::text AS owner, state, clock_timestamp() - xact_start AS held_for, age(backend_xmin) AS transactions,
    left(query, 80) AS query
  FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
  UNION ALL
  SELECT 'prepared transaction', NULL, gid, owner::text, 'prepared', clock_timestamp() - prepared, age(transaction), NULL FROM pg_prepared_xacts
  UNION ALL
  SELECT 'replication slot', active_pid, slot_name::text, NULL, CASE WHEN active THEN 'active' ELSE 'inactive' END, NULL,
    greatest(age(xmin), age(catalog_xmin)), NULL FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
) holders ORDER BY transactions DESC NULLS LAST LIMIT 50;
