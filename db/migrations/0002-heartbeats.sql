-- Heartbeats of replicas and of runs. From here on a run that is RUNNING has somebody who beats for it; the ones found
-- RUNNING now have nobody, and would stay so for ever.

CREATE TABLE q.replica_heartbeat (
  replica_id text PRIMARY KEY,
  last_heartbeat timestamptz NOT NULL,
  uptime_s integer NOT NULL DEFAULT 0,
  memory_mb integer NOT NULL DEFAULT 0,
  cpu_percent real NOT NULL DEFAULT 0,
  active_runs integer NOT NULL DEFAULT 0,
  free_slots integer NOT NULL DEFAULT 0,
  completed bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  health text NOT NULL DEFAULT 'healthy' CHECK (health IN ('healthy', 'degraded', 'unhealthy'))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE q.replica_heartbeat IS 'The last sign of life of each replica, updated in place.';
COMMENT ON COLUMN q.replica_heartbeat.last_heartbeat IS 'By the database''s clock.';
COMMENT ON COLUMN q.replica_heartbeat.cpu_percent IS 'Of all its cores, over the last interval.';
COMMENT ON COLUMN q.replica_heartbeat.memory_mb IS 'Resident memory.';
COMMENT ON COLUMN q.replica_heartbeat.completed IS 'Runs that ended SUCCEEDED since its start.';

CREATE TYPE q.beat_role AS ENUM ('claimer', 'runner');

CREATE TABLE q.task_heartbeat (
  run_id bigint NOT NULL,
  role q.beat_role NOT NULL,
  fence integer NOT NULL,
  pid integer NOT NULL,
  sent_at timestamptz NOT NULL,
  progress real,
  sender_id text NOT NULL,
  hostname text NOT NULL,
  note text,
  PRIMARY KEY (run_id, role)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE q.task_heartbeat IS 'The last sign of life of each run that lasts longer than a beat: claimer beats while CLAIMED, runner beats while RUNNING.';
COMMENT ON COLUMN q.task_heartbeat.fence IS 'The claim it was sent under: a beat of an earlier one never counts.';
COMMENT ON COLUMN q.task_heartbeat.sender_id IS 'replica, or replica/thread for runner beats.';
COMMENT ON COLUMN q.task_heartbeat.sent_at IS 'Time of the evidence, by the database''s clock.';
COMMENT ON COLUMN q.task_heartbeat.progress IS '0 to 1, as the code reported it.';

CREATE VIEW q.heartbeats AS
  SELECT run_id * 2 + CASE role WHEN 'claimer' THEN 0 ELSE 1 END AS id,
         run_id::text AS task_id, sender_id, role::text AS role, sent_at, hostname, pid
  FROM q.task_heartbeat;
COMMENT ON VIEW q.heartbeats IS 'q.task_heartbeat under the column names of other systems.';

UPDATE q.task_run
SET status = 'FAILED',
    result = '{"code": "WORKER_CRASHED", "detail": "Marked as failed during heartbeat migration"}',
    concurrency_slot = NULL,
    finished_at = clock_timestamp(),
    updated_at = clock_timestamp()
WHERE held AND status = 'RUNNING';
