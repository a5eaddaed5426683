-- Groups of equal errors that were seen in the last day. Retry all runs of one: q retry --errors <fingerprint>
SELECT g.fingerprint, g.code, g.name, left(g.message, 120) AS message, g.tasks, day.seen AS seen_in_a_day, g.first_seen, g.last_seen, g.muted_until
FROM q.error_group g CROSS JOIN LATERAL (
  SELECT coalesce(sum(t.seen), 0) AS seen FROM q.error_tally t
  WHERE t.fingerprint = g.fingerprint AND t.bucket_at > clock_timestamp() - interval '1 day') day
WHERE g.last_seen > clock_timestamp() - interval '1 day' ORDER BY day.seen DESC LIMIT 50;
