-- Schedules that tick exactly once, and enqueues of which the last one counts.

-- ------------------------------------------------------------------------------------------------ schedule
ALTER TABLE q.schedule
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN seen_until timestamptz NOT NULL DEFAULT clock_timestamp();
COMMENT ON COLUMN q.schedule.name IS 'The schedule that a task''s own code declares is named task:<task>.';
COMMENT ON COLUMN q.schedule.cron IS 'Five or six fields, read in the time zone; the sixth, at the front, is seconds.';
COMMENT ON COLUMN q.schedule.options IS 'What its runs are enqueued with beside their payload: priority, group, expiresInMs.';
COMMENT ON COLUMN q.schedule.version IS 'Raised by every change. A tick is enqueued in the transaction that raises it from the value that was read, so by one.';
COMMENT ON COLUMN q.schedule.seen_until IS 'Every tick up to here has been enqueued or passed over.';
COMMENT ON COLUMN q.schedule.next_tick IS 'Null: to be reckoned. Not after seen_until: owed from before a change of the pattern. Infinity: never again.';
COMMENT ON COLUMN q.schedule.last_tick IS 'The last one that was enqueued.';
COMMENT ON COLUMN q.schedule.published_by IS 'The replica whose code declares it; null: somebody made it by hand.';
CREATE INDEX schedule_due ON q.schedule (next_tick) WHERE paused_at IS NULL;

CREATE TABLE q.schedule_tick (
  schedule text NOT NULL,
  tick timestamptz NOT NULL,
  run_id bigint NOT NULL,
  PRIMARY KEY (schedule, tick)
);
COMMENT ON TABLE q.schedule_tick IS 'Which run a tick became: one, also if somebody turns the schedule back. Removed with the run.';
CREATE INDEX schedule_tick_run ON q.schedule_tick (run_id);

-- ------------------------------------------------------------------------------------------------ throttle, debounce
-- A throttled run has no unique key of its own, so what it holds is found by its number.
COMMENT ON TABLE q.unique_period IS 'Keys that count for a time, whatever became of the run that had them first: unique keys with a period, and throttles.';
CREATE INDEX unique_period_run ON q.unique_period (run_id);

CREATE TABLE q.debounce (
  task text NOT NULL,
  debounce_key text NOT NULL,
  run_id bigint NOT NULL,
  PRIMARY KEY (task, debounce_key)
) WITH (fillfactor = 70);
COMMENT ON TABLE q.debounce IS 'The run that the last enqueue with this key made or changed. Its row is locked by every such enqueue, so they come one after the other. Removed with the run.';
CREATE INDEX debounce_run ON q.debounce (run_id);
