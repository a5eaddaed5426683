-- Gates that hold runs back, the lines they wait in, and what was done about holders that died.

CREATE TABLE q.concurrency_limit (
  scope text PRIMARY KEY,
  slots smallint NOT NULL CHECK (slots BETWEEN 1 AND 10000)
);
COMMENT ON TABLE q.concurrency_limit IS 'How many runs of one concurrency key may be AVAILABLE, CLAIMED or RUNNING at a time: one value per scope. A scope without a row has 1.';

CREATE TABLE q.queue (
  name text PRIMARY KEY,
  paused_at timestamptz,
  paused_by text
);
COMMENT ON TABLE q.queue IS 'What was decided about a queue. A paused one is passed over by claims as a whole; its runs stay as they are.';

CREATE UNLOGGED TABLE q.awaited (
  run_id bigint PRIMARY KEY
);
COMMENT ON TABLE q.awaited IS 'Runs whose end somebody waits for: settling one of them sends a wake. Not a column of the run, because setting it would lock the run against a claim that is just looking. Unlogged: a lost hint costs a poll.';

CREATE TABLE q.recovery (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bigint NOT NULL,
  fence integer NOT NULL,
  recovered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_age_ms bigint,
  was q.task_status NOT NULL,
  became q.task_status NOT NULL,
  cause text NOT NULL CHECK (cause IN ('never-alive', 'presence', 'replica-beat', 'claimer-beat', 'runner-beat', 'reconciled')),
  code text,
  replica_id text NOT NULL,
  hostname text,
  recovered_by text NOT NULL
);
COMMENT ON TABLE q.recovery IS 'One act of recovering a run from a holder that was taken for dead.';
COMMENT ON COLUMN q.recovery.fence IS 'The claim that was ended by it.';
COMMENT ON COLUMN q.recovery.cause IS 'Which evidence was missing.';
CREATE INDEX recovery_run ON q.recovery (run_id);

CREATE UNLOGGED TABLE q.presence (
  num integer PRIMARY KEY,
  replica_id text NOT NULL,
  server_start timestamptz NOT NULL,
  gone_at timestamptz
) WITH (fillfactor = 50);
COMMENT ON TABLE q.presence IS 'Which replicas hold their presence lock. Unlogged: a crash or promotion of the server, which ends all locks, empties it, so that nobody looks dead for it.';
COMMENT ON COLUMN q.presence.num IS 'q.replica.num: the key of its advisory lock.';
COMMENT ON COLUMN q.presence.server_start IS 'The life of the server in which the lock was taken.';
COMMENT ON COLUMN q.presence.gone_at IS 'When the lock was first seen missing. Here and not in a watcher''s memory, so that a change of watcher does not begin again.';

CREATE TABLE q.duty (
  name text PRIMARY KEY,
  holder text NOT NULL,
  until timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE q.duty IS 'What one replica at a time does for all, by lease: a session lock would be kept by a stopped process.';

CREATE TABLE q.heartbeat_failure (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  replica_id text NOT NULL,
  failed_at timestamptz NOT NULL,
  consecutive integer NOT NULL,
  error text NOT NULL
);
COMMENT ON TABLE q.heartbeat_failure IS 'Heartbeats that could not be sent, written once the database answers again.';
