-- What later parts of a run's life need, so that settling has its final shape: workflows, what is owed to the outside,
-- the timeline, schedules, weights of groups, uniqueness for a period. None of it touches the hot table's layout; a run
-- without a workflow and without a destination pays for an index probe at most.

-- ------------------------------------------------------------------------------------------------ workflow
CREATE TYPE q.workflow_status AS ENUM ('RUNNING', 'PAUSED', 'SUCCEEDED', 'FAILED', 'CANCELLED');
CREATE TYPE q.on_error AS ENUM ('fail', 'pause', 'continue');

CREATE TABLE q.workflow (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  parent_run_id bigint,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  open_steps integer NOT NULL DEFAULT 0 CHECK (open_steps >= 0),
  status q.workflow_status NOT NULL DEFAULT 'RUNNING',
  on_error q.on_error NOT NULL DEFAULT 'fail',
  name text NOT NULL,
  definition jsonb NOT NULL DEFAULT '{}',
  input jsonb NOT NULL DEFAULT '{}',
  result jsonb,
  CONSTRAINT ended_is_ended CHECK ((finished_at IS NOT NULL) = (status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')))
) WITH (fillfactor = 70);
COMMENT ON TABLE q.workflow IS 'Runs that depend on each other. Its steps are runs: there is no second status that could disagree with theirs.';
COMMENT ON COLUMN q.workflow.parent_run_id IS 'The step of another workflow that this one is.';
COMMENT ON COLUMN q.workflow.open_steps IS 'Steps that have not ended.';
COMMENT ON COLUMN q.workflow.on_error IS 'What a step that fails does to the others.';
COMMENT ON COLUMN q.workflow.definition IS 'The graph as it was started, as data.';

CREATE TABLE q.workflow_step (
  run_id bigint PRIMARY KEY,
  workflow_id bigint NOT NULL,
  tolerates integer NOT NULL DEFAULT 0,
  allows_failed boolean NOT NULL DEFAULT false,
  name text NOT NULL,
  inputs jsonb NOT NULL DEFAULT '{}',
  UNIQUE (workflow_id, name)
) WITH (fillfactor = 70);
COMMENT ON TABLE q.workflow_step IS 'What a run is within its workflow. How many parents must still succeed is q.task_run.waiting_on: all of them, one, or a quorum.';
COMMENT ON COLUMN q.workflow_step.tolerates IS 'Parents that may still end without success before this step cannot run any more; below 0 it is SKIPPED.';
COMMENT ON COLUMN q.workflow_step.allows_failed IS 'A parent''s end is enough, whatever it was.';
COMMENT ON COLUMN q.workflow_step.inputs IS 'Where in its payload results of other steps belong, by JSON pointer.';

CREATE TABLE q.workflow_edge (
  parent_id bigint NOT NULL,
  child_id bigint NOT NULL CHECK (child_id <> parent_id),
  PRIMARY KEY (parent_id, child_id)
);
COMMENT ON TABLE q.workflow_edge IS 'The child waits for the parent. Written with the runs, never changed.';
CREATE INDEX workflow_edge_child ON q.workflow_edge (child_id);

-- ------------------------------------------------------------------------------------------------ destination, delivery
CREATE TABLE q.destination (
  name text PRIMARY KEY,
  kind text NOT NULL,
  news text[] NOT NULL DEFAULT '{}',
  tasks text[] NOT NULL DEFAULT '{}',
  settings jsonb NOT NULL DEFAULT '{}',
  paused_at timestamptz
);
COMMENT ON TABLE q.destination IS 'Who outside is told about what. Holds no secrets: settings name the variables that do.';
COMMENT ON COLUMN q.destination.news IS 'run-ended, status, heartbeat, sample.';
COMMENT ON COLUMN q.destination.tasks IS 'Only runs of these tasks; none: of all.';

CREATE TABLE q.delivery (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bigint,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz DEFAULT clock_timestamp(),
  leased_until timestamptz,
  delivered_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  leased_by text,
  last_error text,
  destination text NOT NULL,
  news text NOT NULL,
  subject text NOT NULL,
  payload jsonb NOT NULL,
  UNIQUE (destination, subject)
) WITH (fillfactor = 70);
COMMENT ON TABLE q.delivery IS 'The outbox: what is owed to destinations, written in the transaction that made it true, sent at least once under a stable id.';
COMMENT ON COLUMN q.delivery.due_at IS 'Null: delivered or given up.';
COMMENT ON COLUMN q.delivery.subject IS 'What it is about. One row each: a second report of the same change has no effect, the next heartbeat of a replica replaces the last.';
COMMENT ON COLUMN q.delivery.leased_until IS 'Until then leased_by sends it; after that anybody may.';
CREATE INDEX delivery_due ON q.delivery (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_run ON q.delivery (run_id) WHERE run_id IS NOT NULL;

-- ------------------------------------------------------------------------------------------------ task_log, task_event
CREATE TABLE q.task_log (
  run_id bigint NOT NULL,
  fence integer NOT NULL,
  line_no integer NOT NULL,
  logged_at timestamptz NOT NULL,
  level smallint NOT NULL,
  line text NOT NULL,
  facts jsonb,
  PRIMARY KEY (run_id, fence, line_no)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
COMMENT ON TABLE q.task_log IS 'What the code of runs logged, bounded per run, removed with it.';
COMMENT ON COLUMN q.task_log.line_no IS 'Counted from 1 within one claim: a line told twice is written once.';
COMMENT ON COLUMN q.task_log.level IS 'As pino counts: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal.';

CREATE TABLE q.task_event (
  run_id bigint NOT NULL,
  fence integer NOT NULL,
  kind text NOT NULL,
  happened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  replica_id text,
  detail text,
  PRIMARY KEY (run_id, fence, kind)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
COMMENT ON TABLE q.task_event IS 'What happened to a run beside its ordinary way: losses, refused writes, wishes. One row per claim and kind, however often a zombie tries. Claims, starts and ends are in the run and its attempts.';
COMMENT ON COLUMN q.task_event.kind IS 'refused-start, refused-beat, refused-checkpoint, refused-log, refused-settle, cancel-requested, released, recovered, retried-by-hand, …';

ALTER TABLE q.task_attempt ADD COLUMN claimed_at timestamptz;

-- ------------------------------------------------------------------------------------------------ schedule, run_group
CREATE TABLE q.schedule (
  name text PRIMARY KEY,
  task text NOT NULL,
  cron text NOT NULL,
  timezone text NOT NULL DEFAULT 'UTC',
  missed text NOT NULL DEFAULT 'one' CHECK (missed IN ('skip', 'one', 'all')),
  payload jsonb NOT NULL DEFAULT '{}',
  options jsonb NOT NULL DEFAULT '{}',
  last_tick timestamptz,
  next_tick timestamptz,
  paused_at timestamptz,
  paused_by text,
  published_by text,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE q.schedule IS 'Tasks that are enqueued by the clock: one run per tick, however many replicas look.';
COMMENT ON COLUMN q.schedule.missed IS 'What becomes of ticks that nobody saw: none, the last one, all up to a bound.';

CREATE TABLE q.run_group (
  queue text NOT NULL,
  grp text NOT NULL,
  weight smallint NOT NULL CHECK (weight BETWEEN 1 AND 1000),
  PRIMARY KEY (queue, grp)
);
COMMENT ON TABLE q.run_group IS 'Groups that get more than one share of their queue. A group without a row has weight 1.';

CREATE TABLE q.unique_period (
  task text NOT NULL,
  unique_key text NOT NULL,
  run_id bigint NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (task, unique_key)
) WITH (fillfactor = 70);
COMMENT ON TABLE q.unique_period IS 'Unique keys that count for a time, whatever became of the run that had them first.';

-- ------------------------------------------------------------------------------------------------ replicas
ALTER TABLE q.replica_heartbeat ADD COLUMN threads jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN q.replica_heartbeat.threads IS 'What each thread is doing, at the time of the beat; bounded in size.';

ALTER TABLE q.replica ADD COLUMN presence_grace_ms integer NOT NULL DEFAULT 2500;
COMMENT ON COLUMN q.replica.presence_grace_ms IS 'Its own, like its thresholds: how long after its session broke it may still show that it lives.';

CREATE TABLE q.replica_sample (
  replica_id text NOT NULL,
  sampled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  memory_mb integer NOT NULL,
  cpu_percent real NOT NULL,
  active_runs integer NOT NULL,
  free_slots integer NOT NULL,
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  health text NOT NULL,
  PRIMARY KEY (replica_id, sampled_at)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
COMMENT ON TABLE q.replica_sample IS 'Vitals of replicas over time, bounded by age.';

CREATE INDEX heartbeat_failure_replica ON q.heartbeat_failure (replica_id, failed_at);

-- ------------------------------------------------------------------------------------------------ wakes
CREATE UNLOGGED TABLE q.idle (
  replica_id text PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE q.idle IS 'Replicas that wait for work. Unlogged: a lost hint costs a poll.';

-- Users' own transactions and plain SQL wake a replica when they commit, and only if one is idle: a NOTIFY in every
-- commit would take a lock that all commits share. Connections of q set q.quiet and send one wake after theirs.
CREATE FUNCTION q.wake_idle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM q.idle) THEN
    IF NEW.gated_key IS NOT NULL THEN
      PERFORM pg_notify('q_gated', left(NEW.gated_key, 1000));
    ELSE
      PERFORM pg_notify('q_ready', coalesce((SELECT queue FROM q.lane WHERE id = NEW.lane), ''));
    END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER task_run_wake AFTER INSERT ON q.task_run DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW.ready OR NEW.gated_key IS NOT NULL) AND current_setting('q.quiet', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION q.wake_idle();

-- ------------------------------------------------------------------------------------------------ the guard
-- Made anew from the table of states, which now also says when the counts may change: `guardCondition` of @q/schema.
DROP TRIGGER task_run_guard ON q.task_run;
CREATE TRIGGER task_run_guard AFTER UPDATE ON q.task_run FOR EACH ROW
  WHEN (
    NEW.fence < OLD.fence
    OR NEW.epoch <> OLD.epoch AND OLD.finished_at IS NULL
    OR CASE
      WHEN NEW.epoch <> OLD.epoch THEN
        NEW.status <> ALL ('{PENDING,AVAILABLE}'::q.task_status[])
        OR NEW.epoch <> OLD.epoch + 1 OR NEW.fence = OLD.fence OR NEW.attempt <> 0 OR NEW.crash_count <> 0
      WHEN NEW.status IS DISTINCT FROM OLD.status THEN
        NEW.status <> ALL (CASE OLD.status
          WHEN 'PENDING' THEN '{AVAILABLE,FAILED,CANCELLED,EXPIRED,SKIPPED}'::q.task_status[]
          WHEN 'AVAILABLE' THEN '{PENDING,CLAIMED,RUNNING,FAILED,CANCELLED,EXPIRED,SKIPPED}'::q.task_status[]
          WHEN 'CLAIMED' THEN '{PENDING,AVAILABLE,RUNNING,FAILED,CANCELLED,EXPIRED}'::q.task_status[]
          WHEN 'RUNNING' THEN '{PENDING,AVAILABLE,SUCCEEDED,FAILED,CANCELLED}'::q.task_status[]
          ELSE '{}'::q.task_status[]
        END)
        OR NEW.attempt - OLD.attempt NOT IN (0, CASE WHEN NEW.status = 'RUNNING' THEN 1
          WHEN OLD.status = 'RUNNING' THEN -1 ELSE 0 END)
        OR NEW.crash_count - OLD.crash_count NOT IN (0, CASE WHEN NEW.status = 'RUNNING' THEN 0
          WHEN OLD.status = 'RUNNING' THEN 1 ELSE 0 END)
      ELSE
        NEW.fence <> OLD.fence OR NEW.attempt <> OLD.attempt OR NEW.crash_count <> OLD.crash_count
        OR OLD.finished_at IS NOT NULL
          AND (OLD.result, OLD.finished_at, OLD.replica_id, OLD.epoch, OLD.task, OLD.payload)
            IS DISTINCT FROM (NEW.result, NEW.finished_at, NEW.replica_id, NEW.epoch, NEW.task, NEW.payload)
    END
  )
  EXECUTE FUNCTION q.refuse_change();
