-- Live and dead rows of each table of q. More dead than live: VACUUM (ANALYZE) q.<table>, and look at old-snapshots.sql.
SELECT relname AS table, n_live_tup AS live, n_dead_tup AS dead, pg_size_pretty(pg_total_relation_size(relid)) AS size,
  last_vacuum, last_autovacuum, last_autoanalyze, autovacuum_count
FROM pg_stat_user_tables WHERE schemaname = 'q' ORDER BY n_dead_tup DESC LIMIT 50;
