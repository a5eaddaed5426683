-- Runs, the lanes they wait in, the tasks and replicas that exist, and what a run went through.
-- The layout of q.task_run is the hot path: constant fixed-width columns first, then what changes, then what is
-- derived from it, constants of variable width after that and the payload last, so that an update writes little WAL.
-- No index and no predicate mentions status itself: a start is a HOT update, claim and finish touch only the indexes
-- a run enters or leaves.

CREATE TYPE q.task_status AS ENUM
  ('PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED');
COMMENT ON TYPE q.task_status IS 'Where a run is. The last five are terminal.';

CREATE TYPE q.on_crash AS ENUM ('fail', 'retry');
COMMENT ON TYPE q.on_crash IS 'What happens to a RUNNING run whose holder died: FAILED, or started again up to its limits.';

-- ------------------------------------------------------------------------------------------------ compatibility
CREATE TABLE q.compatibility (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  oldest_program integer NOT NULL
);
COMMENT ON TABLE q.compatibility IS 'Which programs may use this database. A migration that older programs cannot live with raises oldest_program.';
COMMENT ON COLUMN q.compatibility.oldest_program IS 'Number of the newest migration a program must know to be allowed in.';
INSERT INTO q.compatibility (oldest_program) VALUES (1);

-- ------------------------------------------------------------------------------------------------ task, lane
CREATE TABLE q.task (
  name text PRIMARY KEY,
  queue text NOT NULL,
  options jsonb NOT NULL DEFAULT '{}',
  payload_schema jsonb,
  published_by text NOT NULL,
  published_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE q.task IS 'The tasks that replicas know, published by them, so that every producer enqueues with the right options.';
COMMENT ON COLUMN q.task.options IS 'The task''s options as data.';
COMMENT ON COLUMN q.task.payload_schema IS 'JSON Schema of the payload, where the task''s validator gives one.';
COMMENT ON COLUMN q.task.published_by IS 'Replica that published it last.';

CREATE TABLE q.lane (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue text NOT NULL,
  task text NOT NULL,
  requires text[] NOT NULL DEFAULT '{}',
  UNIQUE (queue, task, requires)
);
COMMENT ON TABLE q.lane IS 'Interned (queue, task, requires). A replica asks only for lanes it can serve; the others cost it nothing.';
COMMENT ON COLUMN q.lane.requires IS 'Capabilities a replica must have, sorted.';

-- ------------------------------------------------------------------------------------------------ task_run
CREATE TABLE q.task_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workflow_id bigint,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz,
  lane integer NOT NULL,
  timeout_ms integer,
  max_silent_ms integer,
  on_crash q.on_crash,
  priority smallint NOT NULL DEFAULT 0,
  max_attempts smallint NOT NULL DEFAULT 1,
  -- what changes
  status q.task_status NOT NULL DEFAULT 'AVAILABLE',
  fence integer NOT NULL DEFAULT 0,
  attempt smallint NOT NULL DEFAULT 0,
  crash_count smallint NOT NULL DEFAULT 0,
  epoch smallint NOT NULL DEFAULT 1,
  concurrency_slot smallint,
  run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claimed_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  cancel_requested_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  waiting_on integer NOT NULL DEFAULT 0,
  replica_id text,
  waiting_for text,
  -- what is derived from it
  ready boolean GENERATED ALWAYS AS (CASE WHEN status = 'AVAILABLE' THEN true END) STORED,
  held boolean GENERATED ALWAYS AS (CASE WHEN status IN ('CLAIMED', 'RUNNING') THEN true END) STORED,
  due_at timestamptz GENERATED ALWAYS AS (CASE WHEN status = 'PENDING' AND waiting_for = 'time' THEN run_at END) STORED,
  gated_key text GENERATED ALWAYS AS (CASE WHEN status = 'PENDING' AND waiting_for = 'concurrency' THEN concurrency_key END) STORED,
  expiring_at timestamptz GENERATED ALWAYS AS (CASE WHEN status IN ('PENDING', 'AVAILABLE', 'CLAIMED') THEN expires_at END) STORED,
  unique_live text GENERATED ALWAYS AS (CASE WHEN finished_at IS NULL THEN unique_key END) STORED,
  result jsonb,
  checkpoint jsonb,
  -- what never changes
  task text NOT NULL,
  grp text NOT NULL DEFAULT '',
  unique_key text,
  concurrency_scope text,
  concurrency_key text,
  trace text,
  payload jsonb NOT NULL DEFAULT '{}',
  CONSTRAINT state_has_its_columns CHECK (
    CASE status
      WHEN 'PENDING' THEN waiting_for IS NOT NULL AND finished_at IS NULL
      WHEN 'AVAILABLE' THEN waiting_for IS NULL AND finished_at IS NULL
      -- started_at may be null: a run set to RUNNING by hand is legal
      WHEN 'CLAIMED' THEN replica_id IS NOT NULL AND finished_at IS NULL
      WHEN 'RUNNING' THEN replica_id IS NOT NULL AND finished_at IS NULL
      ELSE finished_at IS NOT NULL AND (status = 'SUCCEEDED' OR (jsonb_typeof(result -> 'code') = 'string') IS TRUE)
    END),
  CONSTRAINT waits_for_a_gate CHECK (waiting_for IN ('parents', 'time', 'concurrency')),
  CONSTRAINT live_key_has_a_slot CHECK (
    (concurrency_slot IS NOT NULL) = (concurrency_key IS NOT NULL AND status IN ('AVAILABLE', 'CLAIMED', 'RUNNING'))),
  CONSTRAINT key_has_a_scope CHECK ((concurrency_key IS NULL) = (concurrency_scope IS NULL)),
  CONSTRAINT slots_count_from_one CHECK (concurrency_slot >= 1),
  CONSTRAINT counts_are_counts CHECK (fence >= 0 AND attempt >= 0 AND crash_count >= 0 AND epoch >= 1 AND max_attempts >= 1)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);

COMMENT ON TABLE q.task_run IS 'One request to execute a task.';
COMMENT ON COLUMN q.task_run.lane IS 'q.lane.id: which queue, task and required capabilities. Not a foreign key: the check would be paid by every enqueue.';
COMMENT ON COLUMN q.task_run.priority IS 'Lower numbers first.';
COMMENT ON COLUMN q.task_run.max_attempts IS 'Starts allowed in one epoch for errors the code reports.';
COMMENT ON COLUMN q.task_run.on_crash IS 'Null: the default its holder registered.';
COMMENT ON COLUMN q.task_run.timeout_ms IS 'Wall clock limit of one attempt; null: the task''s own.';
COMMENT ON COLUMN q.task_run.max_silent_ms IS 'Longest silence of one attempt; null: the task''s own.';
COMMENT ON COLUMN q.task_run.expires_at IS 'Not started by then: EXPIRED.';
COMMENT ON COLUMN q.task_run.fence IS 'Raised by every claim and every reap. (id, fence) is the lease a holder must show to write.';
COMMENT ON COLUMN q.task_run.attempt IS 'Starts of the code in this epoch.';
COMMENT ON COLUMN q.task_run.crash_count IS 'Attempts of this epoch that ended by the holder''s death.';
COMMENT ON COLUMN q.task_run.epoch IS 'Raised by a retry by hand. Run and epoch are the idempotency key.';
COMMENT ON COLUMN q.task_run.run_at IS 'Not before this time; also the age by which runs of one priority are ordered.';
COMMENT ON COLUMN q.task_run.replica_id IS 'Holder; after the end, the last holder.';
COMMENT ON COLUMN q.task_run.waiting_for IS 'The gate a PENDING run is at: parents, time, concurrency (passed in this order).';
COMMENT ON COLUMN q.task_run.waiting_on IS 'Parents that are still open.';
COMMENT ON COLUMN q.task_run.concurrency_slot IS 'Which of the key''s places this run occupies while it is AVAILABLE, CLAIMED or RUNNING.';
COMMENT ON COLUMN q.task_run.result IS 'Return value of a SUCCEEDED run; for every other end an object with code and detail.';
COMMENT ON COLUMN q.task_run.checkpoint IS 'What the code saved last; a later attempt continues from it.';
COMMENT ON COLUMN q.task_run.grp IS 'Runs of one group share fairly with those of other groups.';
COMMENT ON COLUMN q.task_run.concurrency_scope IS 'Whose limit applies: the task''s name, or a name that tasks share.';
COMMENT ON COLUMN q.task_run.concurrency_key IS 'The key within its scope, which is its first part. At most the scope''s limit of runs have it and are AVAILABLE, CLAIMED or RUNNING.';
COMMENT ON COLUMN q.task_run.unique_key IS 'At most one live run of a task has it.';
COMMENT ON COLUMN q.task_run.trace IS 'Trace context of the producer.';

CREATE INDEX task_run_ready ON q.task_run (lane, priority, grp, run_at, id) WHERE ready;
CREATE INDEX task_run_held ON q.task_run (replica_id) WHERE held;
CREATE INDEX task_run_due ON q.task_run (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX task_run_gated ON q.task_run (gated_key, priority, id) WHERE gated_key IS NOT NULL;
CREATE UNIQUE INDEX task_run_slot ON q.task_run (concurrency_key, concurrency_slot) WHERE concurrency_slot IS NOT NULL;
CREATE UNIQUE INDEX task_run_unique ON q.task_run (task, unique_live) WHERE unique_live IS NOT NULL;
CREATE INDEX task_run_expiring ON q.task_run (expiring_at) WHERE expiring_at IS NOT NULL;
CREATE INDEX task_run_workflow ON q.task_run (workflow_id) WHERE workflow_id IS NOT NULL;

-- The state machine, whoever asks. AFTER with WHEN: a legal change pays for one expression and nothing else.
CREATE FUNCTION q.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    RAISE EXCEPTION 'a run cannot begin as %', NEW.status
      USING ERRCODE = 'QS001', HINT = 'A new run is PENDING or AVAILABLE, in epoch 1, with fence, attempt and crash count 0.';
  END IF;
  RAISE EXCEPTION 'run %: % -> % is not a legal change', OLD.id, OLD.status, NEW.status
    USING ERRCODE = 'QS001', HINT = 'docs/reference/states.md lists the legal ones. A terminal run changes only by a retry, which opens a new epoch.';
END $$;

CREATE TRIGGER task_run_begin AFTER INSERT ON q.task_run FOR EACH ROW
  WHEN (NEW.status NOT IN ('PENDING', 'AVAILABLE') OR NEW.fence <> 0 OR NEW.attempt <> 0 OR NEW.crash_count <> 0 OR NEW.epoch <> 1)
  EXECUTE FUNCTION q.refuse_change();

CREATE TRIGGER task_run_guard AFTER UPDATE ON q.task_run FOR EACH ROW
  WHEN (
    NEW.fence < OLD.fence
    OR NEW.epoch <> OLD.epoch AND OLD.finished_at IS NULL
    OR CASE
      WHEN OLD.status IS DISTINCT FROM NEW.status THEN NEW.status <> ALL (CASE OLD.status
        WHEN 'PENDING'   THEN '{AVAILABLE,FAILED,CANCELLED,EXPIRED,SKIPPED}'::q.task_status[]
        WHEN 'AVAILABLE' THEN '{PENDING,CLAIMED,RUNNING,FAILED,CANCELLED,EXPIRED,SKIPPED}'
        WHEN 'CLAIMED'   THEN '{PENDING,AVAILABLE,RUNNING,FAILED,CANCELLED,EXPIRED}'
        WHEN 'RUNNING'   THEN '{PENDING,AVAILABLE,SUCCEEDED,FAILED,CANCELLED}'
        ELSE CASE WHEN NEW.epoch = OLD.epoch + 1 AND NEW.fence > OLD.fence THEN '{PENDING,AVAILABLE}' ELSE '{}' END::q.task_status[]
      END)
      ELSE OLD.finished_at IS NOT NULL
        AND (OLD.result, OLD.finished_at, OLD.replica_id, OLD.fence, OLD.epoch, OLD.attempt, OLD.crash_count, OLD.task, OLD.payload)
          IS DISTINCT FROM (NEW.result, NEW.finished_at, NEW.replica_id, NEW.fence, NEW.epoch, NEW.attempt, NEW.crash_count, NEW.task, NEW.payload)
    END)
  EXECUTE FUNCTION q.refuse_change();

-- ------------------------------------------------------------------------------------------------ task_attempt
CREATE TABLE q.task_attempt (
  run_id bigint NOT NULL,
  fence integer NOT NULL,
  epoch smallint NOT NULL,
  attempt smallint NOT NULL,
  thread smallint,
  pid integer,
  started_at timestamptz,
  ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  outcome text NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'cancelled', 'crashed', 'released', 'retried', 'snoozed')),
  code text,
  detail text,
  replica_id text NOT NULL,
  hostname text,
  PRIMARY KEY (run_id, fence)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
COMMENT ON TABLE q.task_attempt IS 'Ended attempts, immutable. A successful attempt lives in q.task_run alone (a second row per success is too dear) until a retry by hand opens a new epoch.';
COMMENT ON COLUMN q.task_attempt.fence IS 'The claim this attempt belonged to.';
COMMENT ON COLUMN q.task_attempt.thread IS 'Slot of the replica that ran it.';

-- ------------------------------------------------------------------------------------------------ replica
CREATE TABLE q.replica (
  id text PRIMARY KEY,
  num integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL,
  hostname text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  endpoint text,
  capabilities text[] NOT NULL DEFAULT '{}',
  queues text[] NOT NULL DEFAULT '{}',
  tasks text[] NOT NULL DEFAULT '{}',
  slots integer NOT NULL,
  speed real NOT NULL DEFAULT 1,
  preset text NOT NULL,
  on_crash q.on_crash NOT NULL DEFAULT 'fail',
  replica_beat_ms integer NOT NULL,
  replica_stale_ms integer NOT NULL,
  check_every_ms integer NOT NULL,
  claimer_beat_ms integer NOT NULL,
  claimer_stale_ms integer NOT NULL,
  runner_beat_ms integer NOT NULL,
  runner_stale_ms integer NOT NULL,
  draining_at timestamptz,
  draining_by text,
  drain_deadline timestamptz,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  stopped_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
COMMENT ON TABLE q.replica IS 'One runner process, one row per boot. People call it a node.';
COMMENT ON COLUMN q.replica.id IS 'Random, 12 characters, new on every boot.';
COMMENT ON COLUMN q.replica.num IS 'Small number for its presence lock.';
COMMENT ON COLUMN q.replica.name IS 'For people: host name, made unique among living replicas.';
COMMENT ON COLUMN q.replica.queues IS 'Queues it works on; none: all.';
COMMENT ON COLUMN q.replica.tasks IS 'Tasks it knows.';
COMMENT ON COLUMN q.replica.slots IS 'Runs it can execute at once.';
COMMENT ON COLUMN q.replica.on_crash IS 'For runs whose task says nothing.';
COMMENT ON COLUMN q.replica.replica_stale_ms IS 'Its own thresholds: a slow preset is not reaped by a fast neighbour.';
