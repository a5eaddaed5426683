-- Starts, ends and busy time by task in the last hour. `slots` is how many slots it kept busy on average.
SELECT queue, task, sum(started) AS started, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(retried) AS retried, sum(crashed) AS crashed,
  round(sum(busy_ms) / nullif(sum(succeeded + failed + cancelled + retried), 0)) AS mean_ms, round(sum(busy_ms) / 3600000.0, 2) AS slots
FROM q.run_tally WHERE width_s = 60 AND bucket_at > clock_timestamp() - interval '1 hour'
GROUP BY queue, task ORDER BY sum(busy_ms) DESC LIMIT 50;
