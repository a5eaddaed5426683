-- What people need to operate q: rates and percentiles, gauges, gaps between heartbeats, groups of equal errors, reviews,
-- operations on many runs, and a record of what people did.
--
-- Replicas of the previous release work beside this one: every new column has a default or may be null, and nothing that they
-- use is gone. They flush no tally and report no fingerprint, so rates are too low while they run.

-- ------------------------------------------------------------------------------------------------ rates and percentiles
CREATE TABLE q.run_tally (
  bucket_at timestamptz NOT NULL,
  width_s integer NOT NULL CHECK (width_s IN (60, 3600)),
  started integer NOT NULL DEFAULT 0,
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cancelled integer NOT NULL DEFAULT 0,
  retried integer NOT NULL DEFAULT 0,
  crashed integer NOT NULL DEFAULT 0,
  busy_ms bigint NOT NULL DEFAULT 0,
  wait_histogram integer[] NOT NULL DEFAULT '{}',
  duration_histogram integer[] NOT NULL DEFAULT '{}',
  queue text NOT NULL,
  task text NOT NULL,
  PRIMARY KEY (width_s, bucket_at, queue, task)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON TABLE q.run_tally IS 'Starts and ends of runs per minute, or per hour for those older than a day. Each replica counts its own in memory and adds them every few seconds; a replica that is killed loses the counts of its last seconds.';
COMMENT ON COLUMN q.run_tally.bucket_at IS 'Begin of the minute or hour, by the database''s clock at the time of the flush.';
COMMENT ON COLUMN q.run_tally.width_s IS '60: a minute. 3600: an hour.';
COMMENT ON COLUMN q.run_tally.retried IS 'Attempts that ended and will be started again: after an error, a snooze or a release.';
COMMENT ON COLUMN q.run_tally.crashed IS 'Attempts that ended because their replica, thread or child process died.';
COMMENT ON COLUMN q.run_tally.busy_ms IS 'Sum of the durations: divided by slots and width it is the utilisation.';
COMMENT ON COLUMN q.run_tally.wait_histogram IS 'How long runs waited after they were due, first starts alone. Element i counts those up to 2^((i-1)/2) ms and longer than the element before; at most 60 elements, the last has no upper bound.';
COMMENT ON COLUMN q.run_tally.duration_histogram IS 'How long attempts took, with the same elements.';
COMMENT ON COLUMN q.run_tally.task IS '…: the tasks beyond the number that one flush may name.';

CREATE TABLE q.tally_flush (
  replica_id text PRIMARY KEY,
  flush_no bigint NOT NULL,
  flushed_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE q.tally_flush IS 'The last flush of counts that each replica committed. A flush whose answer was lost is sent again with its number and adds nothing the second time.';

CREATE TABLE q.queue_sample (
  sampled_at timestamptz NOT NULL,
  oldest_ms bigint,
  ready integer NOT NULL,
  claimed integer NOT NULL,
  running integer NOT NULL,
  waiting_time integer NOT NULL,
  waiting_concurrency integer NOT NULL,
  at_least boolean NOT NULL DEFAULT false,
  paused boolean NOT NULL DEFAULT false,
  queue text NOT NULL,
  PRIMARY KEY (queue, sampled_at)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
COMMENT ON TABLE q.queue_sample IS 'The length of each queue over time, bounded by age, written by one replica at a time.';
COMMENT ON COLUMN q.queue_sample.oldest_ms IS 'Age of the oldest AVAILABLE run; null: there is none.';
COMMENT ON COLUMN q.queue_sample.ready IS 'AVAILABLE runs, counted up to a bound.';
COMMENT ON COLUMN q.queue_sample.waiting_time IS 'PENDING runs that wait for their time, counted up to a bound.';
COMMENT ON COLUMN q.queue_sample.waiting_concurrency IS 'PENDING runs that wait for their concurrency key, counted up to a bound.';
COMMENT ON COLUMN q.queue_sample.at_least IS 'Whether a count reached its bound, so that there may be more.';

-- ------------------------------------------------------------------------------------------------ heartbeats
CREATE TABLE q.beat_gap (
  replica_id text NOT NULL,
  last_beat timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  PRIMARY KEY (replica_id, last_beat)
);
CREATE INDEX beat_gap_ended ON q.beat_gap (ended_at);
COMMENT ON TABLE q.beat_gap IS 'Times without a heartbeat of a living replica, longer than 1.5 times its interval. Written by the heartbeat that ends the gap.';
COMMENT ON COLUMN q.beat_gap.last_beat IS 'The heartbeat before the gap.';
COMMENT ON COLUMN q.beat_gap.ended_at IS 'The heartbeat that ended the gap.';

ALTER TABLE q.replica ADD COLUMN recovers boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN q.replica.recovers IS 'Whether it recovers the runs of dead replicas; false: recovery of claimed or of running ones is switched off in its configuration.';

-- Heartbeats that could not be sent, and writes under a lost lease, by time.
CREATE INDEX heartbeat_failure_time ON q.heartbeat_failure (failed_at);
CREATE INDEX task_event_refused ON q.task_event (happened_at) WHERE kind LIKE 'refused-%';

-- ------------------------------------------------------------------------------------------------ errors
ALTER TABLE q.task_attempt ADD COLUMN fingerprint text;
COMMENT ON COLUMN q.task_attempt.fingerprint IS 'q.error_group.fingerprint of the error that ended it. Null: it ended without an error, or by a release that does not report it.';
-- Only ends that are not a success have a row, so only they pay for these two.
CREATE INDEX task_attempt_ended ON q.task_attempt (ended_at);
CREATE INDEX task_attempt_fingerprint ON q.task_attempt (fingerprint, ended_at) WHERE fingerprint IS NOT NULL;

CREATE TABLE q.error_group (
  fingerprint text PRIMARY KEY,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  muted_until timestamptz,
  seen bigint NOT NULL,
  last_run_id bigint NOT NULL,
  muted_by text,
  code text NOT NULL,
  name text NOT NULL,
  message text NOT NULL,
  place text,
  tasks text[] NOT NULL,
  versions text[] NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX error_group_last_seen ON q.error_group (last_seen, fingerprint);
COMMENT ON TABLE q.error_group IS 'Errors with the same cause, as far as their code, class, text and place tell. Added to by replicas every few seconds, never by a settle: an error storm would queue every settle for one row.';
COMMENT ON COLUMN q.error_group.fingerprint IS '16 hexadecimal digits, computed by the replica, or given by the code that threw the error.';
COMMENT ON COLUMN q.error_group.muted_until IS 'Until then it needs no attention.';
COMMENT ON COLUMN q.error_group.name IS 'Class of the error.';
COMMENT ON COLUMN q.error_group.message IS 'Its text, with placeholders for numbers, ids, times, quoted text and paths.';
COMMENT ON COLUMN q.error_group.place IS 'Function and file of the first frame that is not in a library, without its line.';
COMMENT ON COLUMN q.error_group.tasks IS 'Tasks that failed with it, at most 20.';
COMMENT ON COLUMN q.error_group.versions IS 'Versions of the replicas that saw it, at most 20.';

CREATE TABLE q.error_tally (
  fingerprint text NOT NULL,
  bucket_at timestamptz NOT NULL,
  seen integer NOT NULL,
  PRIMARY KEY (fingerprint, bucket_at)
) WITH (fillfactor = 70);
COMMENT ON TABLE q.error_tally IS 'How often each group of errors was seen, per hour, for 7 days.';

-- ------------------------------------------------------------------------------------------------ recoveries and deliveries
ALTER TABLE q.recovery ADD COLUMN reviewed_at timestamptz, ADD COLUMN reviewed_by text;
COMMENT ON COLUMN q.recovery.reviewed_at IS 'When a person accepted the outcome of a run that was running when its replica died, or retried the run. Null and became FAILED: to review.';
CREATE INDEX recovery_to_review ON q.recovery (id) WHERE became = 'FAILED' AND reviewed_at IS NULL;
CREATE INDEX recovery_replica ON q.recovery (replica_id, id);

CREATE INDEX delivery_given_up ON q.delivery (id) WHERE due_at IS NULL AND delivered_at IS NULL;

-- ------------------------------------------------------------------------------------------------ queues and runs
ALTER TABLE q.queue ADD COLUMN pause_reason text;

CREATE TABLE q.run_origin (
  run_id bigint PRIMARY KEY,
  origin_id bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('again', 'child'))
);
CREATE INDEX run_origin_of ON q.run_origin (origin_id, run_id);
COMMENT ON TABLE q.run_origin IS 'Which run another run was made from. Not a column of the run: most runs have no origin, and an index for the way back would be paid by every enqueue. Removed with the run.';
COMMENT ON COLUMN q.run_origin.origin_id IS 'The run it was made from, which may have been pruned.';
COMMENT ON COLUMN q.run_origin.kind IS 'again: a person ran it again, perhaps with another payload. child: the code of the origin enqueued it.';

-- ------------------------------------------------------------------------------------------------ operations and audit
CREATE TABLE q.operation (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  upper_id bigint NOT NULL,
  next_id bigint,
  looked bigint NOT NULL DEFAULT 0,
  changed bigint NOT NULL DEFAULT 0,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  stop_asked_at timestamptz,
  finished_at timestamptz,
  leased_until timestamptz,
  kind text NOT NULL CHECK (kind IN ('retry', 'cancel', 'review')),
  asked_by text NOT NULL,
  leased_by text,
  filter jsonb NOT NULL,
  answers jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 70);
CREATE INDEX operation_open ON q.operation (id) WHERE finished_at IS NULL;
COMMENT ON TABLE q.operation IS 'One act on all runs that match a filter, executed in steps by the replica that has its lease. A step commits its effects and how far it came together.';
COMMENT ON COLUMN q.operation.upper_id IS 'The newest run at the time of the request. Later ones are not touched.';
COMMENT ON COLUMN q.operation.next_id IS 'The newest run that is still to be looked at; the walk goes to older ones. Null: all were looked at.';
COMMENT ON COLUMN q.operation.looked IS 'Runs that match and were tried.';
COMMENT ON COLUMN q.operation.changed IS 'Runs that were changed.';
COMMENT ON COLUMN q.operation.stop_asked_at IS 'The next step ends it instead of going on.';
COMMENT ON COLUMN q.operation.leased_until IS 'Until then leased_by executes it; after that any replica may.';
COMMENT ON COLUMN q.operation.filter IS 'Which runs, as data: the members of a filter of runs.';
COMMENT ON COLUMN q.operation.answers IS 'How often each answer was given: {"retried": 900, "conflict": 3}.';

CREATE TABLE q.action (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  acted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  acted_by text NOT NULL,
  via text NOT NULL CHECK (via IN ('page', 'api', 'cli')),
  what text NOT NULL,
  subject text NOT NULL,
  answer text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE q.action IS 'What people did through the page, the HTTP API or the command line. Calls of the store and plain SQL leave no row.';
COMMENT ON COLUMN q.action.what IS 'The act: drain, cancel, retry, pause, ….';
COMMENT ON COLUMN q.action.subject IS 'What it was done to: a run, node, queue, schedule, ….';
COMMENT ON COLUMN q.action.answer IS 'What came of it. asked: it was begun, and its end was not recorded.';

-- ------------------------------------------------------------------------------------------------ wakes
-- A run that becomes AVAILABLE wakes only replicas that can serve it: q_available carries the queue and the required
-- capabilities. Replicas of earlier releases listen on q_ready.
CREATE FUNCTION q.wake_text(queue text, requires text[]) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  -- A notification has at most 8000 bytes. Without requires every replica of the queue looks.
  SELECT CASE WHEN octet_length(told) < 7900 THEN told ELSE json_build_object('queue', queue)::text END
  FROM (SELECT json_build_object('queue', queue, 'requires', requires)::text AS told) whole
$$;
COMMENT ON FUNCTION q.wake_text(pg_catalog.text, pg_catalog.text[]) IS 'What q_available carries: the queue and the capabilities that a replica must have to serve the run.';

CREATE OR REPLACE FUNCTION q.wake_idle() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM q.idle) THEN
    IF NEW.gated_key IS NOT NULL THEN
      PERFORM pg_notify('q_gated', left(NEW.gated_key, 1000));
    ELSIF NEW.due_at IS NOT NULL THEN
      PERFORM pg_notify('q_due', greatest(0, ceil(extract(epoch FROM NEW.due_at - clock_timestamp()) * 1000))::bigint::text);
    ELSE
      PERFORM pg_notify('q_available', q.wake_text(lane.queue, lane.requires)) FROM q.lane WHERE lane.id = NEW.lane;
      IF (SELECT oldest_program < 14 FROM q.compatibility) THEN
        PERFORM pg_notify('q_ready', coalesce((SELECT queue FROM q.lane WHERE id = NEW.lane), ''));
      END IF;
    END IF;
  END IF;
  RETURN NULL;
END $$;

-- ------------------------------------------------------------------------------------------------ rights
-- db/roles.sql grants rights on the tables that exist when it is applied. Heartbeats and settles must not fail until it is
-- applied again.
DO $$
DECLARE
  fresh text := 'q.run_tally, q.tally_flush, q.queue_sample, q.beat_gap, q.error_group, q.error_tally, q.run_origin, q.operation, q.action';
  present text;
BEGIN
  FOR present IN SELECT rolname FROM pg_roles WHERE rolname IN ('q_client', 'q_reader', 'q_runner', 'q_admin') LOOP
    EXECUTE format('GRANT SELECT ON %s TO %I', fresh, present);
    IF present IN ('q_runner', 'q_admin') THEN
      EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %s TO %I', fresh, present);
      EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA q TO %I', present);
    ELSIF present = 'q_client' THEN
      GRANT INSERT ON q.run_origin TO q_client;
      GRANT UPDATE (reviewed_at, reviewed_by) ON q.recovery TO q_client;
    END IF;
  END LOOP;
END $$;
