-- Reports to destinations: every change of status, every end and every recovery that a destination asks for, written in the
-- transaction that makes it. Until a destination asks, the triggers that write reports are disabled and cost nothing.
--
-- They are row triggers: PostgreSQL collects the rows for a statement trigger with transition tables even while that trigger
-- is disabled. Replicas of the previous release still write a row for each end, with the same subject; the trigger completes it.

-- ------------------------------------------------------------------------------------------------ q.destination
ALTER TABLE q.destination
  ADD COLUMN statuses text[] NOT NULL DEFAULT '{}',
  ADD COLUMN every_ms integer NOT NULL DEFAULT 300000 CHECK (every_ms BETWEEN 1000 AND 86400000),
  ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN paused_by text,
  ADD COLUMN pause_reason text,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT clock_timestamp();
COMMENT ON TABLE q.destination IS 'External systems that receive reports. Holds no secrets: settings name the environment variables and files that do.';
COMMENT ON COLUMN q.destination.news IS 'Reports it receives: run-ended, status, recovery, heartbeat, sample, alert.';
COMMENT ON COLUMN q.destination.tasks IS 'Only runs of these tasks, and workflows of these names. Empty: all.';
COMMENT ON COLUMN q.destination.statuses IS 'Of status reports: only changes to these states. Empty: to every state.';
COMMENT ON COLUMN q.destination.settings IS 'Settings of its kind. issue is a JSON pointer into the payload of runs; reports carry the value it finds.';
COMMENT ON COLUMN q.destination.every_ms IS 'How often it receives heartbeats and samples of each replica.';
COMMENT ON COLUMN q.destination.declared IS 'Whether Q_DESTINATIONS_FILE of a replica declares it.';
COMMENT ON COLUMN q.destination.paused_at IS 'While it is paused, reports are written and not sent.';

CREATE TABLE q.destination_state (
  destination text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (destination, key)
) WITH (fillfactor = 70);
COMMENT ON TABLE q.destination_state IS 'What senders remember between deliveries, for example the id of a comment that they edit.';

-- ------------------------------------------------------------------------------------------------ q.delivery
-- No release before this one has sent a report: the backlog is stale.
TRUNCATE q.delivery;
ALTER TABLE q.delivery
  ADD COLUMN revision integer NOT NULL DEFAULT 1,
  ADD COLUMN order_key text NOT NULL GENERATED ALWAYS AS (split_part(subject, '/', 1) || '/' || split_part(subject, '/', 2)) STORED;
COMMENT ON COLUMN q.delivery.revision IS 'Raised when a newer heartbeat or sample replaces the report. Receivers see id.revision.';
COMMENT ON COLUMN q.delivery.order_key IS 'The run, workflow or replica that the report is about. The reports of one key are sent one after the other, by id.';
COMMENT ON COLUMN q.delivery.subject IS 'Identifies the change: a second report of the same change has no effect, and a new heartbeat of a replica replaces the previous one.';
COMMENT ON COLUMN q.delivery.attempts IS 'How often it was leased to be sent.';

DROP INDEX q.delivery_due;
CREATE INDEX delivery_due ON q.delivery (destination, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_order ON q.delivery (destination, order_key, id);
CREATE INDEX delivery_created ON q.delivery USING brin (created_at) WITH (autosummarize = on);

-- ------------------------------------------------------------------------------------------------ reports
CREATE FUNCTION q.reported_run(run q.task_run, settings jsonb) RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('runId', run.id::text, 'epoch', run.epoch, 'task', run.task,
    'queue', (SELECT queue FROM q.lane WHERE id = run.lane), 'issue', left(q.json_at(run.payload, settings ->> 'issue') #>> '{}', 200))
$$;
COMMENT ON FUNCTION q.reported_run IS 'A run, as reports name it.';

CREATE FUNCTION q.worker_name(holder text) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce((SELECT name FROM q.replica WHERE id = holder), holder)
$$;
COMMENT ON FUNCTION q.worker_name IS 'The name of a replica, or its id if its row is gone.';

CREATE FUNCTION q.report_time(at timestamptz) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
COMMENT ON FUNCTION q.report_time IS 'A time as reports carry it: ISO 8601, UTC.';

CREATE FUNCTION q.report_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  previous q.task_status;
  holder text := NEW.replica_id;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    previous := OLD.status;
    holder := coalesce(holder, OLD.replica_id);
  END IF;
  INSERT INTO q.delivery (run_id, destination, news, subject, payload)
  SELECT NEW.id, d.name, 'status', format('run/%s/status/%s', NEW.id, gen_random_uuid()),
    q.reported_run(NEW, d.settings) || jsonb_build_object('of', 'run', 'status', NEW.status, 'previous', previous,
      'worker', q.worker_name(holder), 'at', q.report_time(NEW.updated_at))
  FROM q.destination d
  WHERE 'status' = ANY(d.news) AND (d.tasks = '{}' OR NEW.task = ANY(d.tasks))
    AND (d.statuses = '{}' OR NEW.status::text = ANY(d.statuses));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.report_status IS 'Reports the new state of a run.';

CREATE FUNCTION q.report_end() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO q.delivery AS owed (run_id, destination, news, subject, payload)
  SELECT NEW.id, d.name, 'run-ended', format('run/%s/%s', NEW.id, NEW.epoch),
    q.reported_run(NEW, d.settings) || jsonb_build_object('status', NEW.status,
      'code', CASE WHEN NEW.status <> 'SUCCEEDED' THEN NEW.result ->> 'code' END,
      'detail', CASE WHEN NEW.status <> 'SUCCEEDED' THEN left(NEW.result ->> 'detail', 2000) END,
      'at', q.report_time(NEW.finished_at))
  FROM q.destination d
  WHERE 'run-ended' = ANY(d.news) AND (d.tasks = '{}' OR NEW.task = ANY(d.tasks))
  ON CONFLICT (destination, subject) DO UPDATE SET payload = excluded.payload;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.report_end IS 'Reports the end of a run, once per epoch.';

CREATE FUNCTION q.report_recovery() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO q.delivery (run_id, destination, news, subject, payload)
  SELECT NEW.run_id, d.name, 'recovery', format('run/%s/recovery/%s', NEW.run_id, NEW.id),
    q.reported_run(run, d.settings) || jsonb_build_object('worker', q.worker_name(NEW.replica_id),
      'silentMs', coalesce(NEW.beat_age_ms, 0), 'cause', NEW.cause, 'became', NEW.became, 'code', NEW.code,
      'at', q.report_time(NEW.recovered_at))
  FROM q.task_run run, q.destination d
  WHERE run.id = NEW.run_id AND 'recovery' = ANY(d.news) AND (d.tasks = '{}' OR run.task = ANY(d.tasks));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.report_recovery IS 'Reports that a run of a dead replica was recovered.';

CREATE FUNCTION q.report_workflow() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  previous q.workflow_status;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    previous := OLD.status;
  END IF;
  INSERT INTO q.delivery (destination, news, subject, payload)
  SELECT d.name, 'status', format('workflow/%s/status/%s', NEW.id, gen_random_uuid()),
    jsonb_build_object('of', 'workflow', 'workflowId', NEW.id::text, 'name', NEW.name, 'status', NEW.status,
      'previous', previous, 'at', q.report_time(NEW.updated_at))
  FROM q.destination d
  WHERE 'status' = ANY(d.news) AND (d.tasks = '{}' OR NEW.name = ANY(d.tasks))
    AND (d.statuses = '{}' OR NEW.status::text = ANY(d.statuses));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.report_workflow IS 'Reports the new state of a workflow.';

CREATE TRIGGER report_run_enqueued AFTER INSERT ON q.task_run FOR EACH ROW EXECUTE FUNCTION q.report_status();
CREATE TRIGGER report_run_status AFTER UPDATE ON q.task_run FOR EACH ROW
  WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION q.report_status();
CREATE TRIGGER report_run_ended AFTER UPDATE ON q.task_run FOR EACH ROW
  WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION q.report_end();
CREATE TRIGGER report_recovery AFTER INSERT ON q.recovery FOR EACH ROW EXECUTE FUNCTION q.report_recovery();
CREATE TRIGGER report_workflow_started AFTER INSERT ON q.workflow FOR EACH ROW EXECUTE FUNCTION q.report_workflow();
CREATE TRIGGER report_workflow_status AFTER UPDATE ON q.workflow FOR EACH ROW
  WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION q.report_workflow();

ALTER TABLE q.task_run DISABLE TRIGGER report_run_enqueued, DISABLE TRIGGER report_run_status, DISABLE TRIGGER report_run_ended;
ALTER TABLE q.recovery DISABLE TRIGGER report_recovery;
ALTER TABLE q.workflow DISABLE TRIGGER report_workflow_started, DISABLE TRIGGER report_workflow_status;

-- ------------------------------------------------------------------------------------------------ enabling
-- Changing a trigger waits for every transaction that has written to its table, and writers queue behind it: it gives up
-- soon, and the caller tries again.
CREATE FUNCTION q.follow_destinations() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
  change record;
BEGIN
  -- One at a time: the next statement sees what the changes before this one have committed.
  PERFORM pg_advisory_xact_lock(hashtextextended('q.destination', 0));
  FOR change IN
    SELECT c.relname, string_agg(format('%s TRIGGER %I', CASE WHEN w.wanted THEN 'ENABLE' ELSE 'DISABLE' END, t.tgname), ', ') AS changes
    FROM (VALUES ('task_run', 'report_run_enqueued', 'status'), ('task_run', 'report_run_status', 'status'),
      ('task_run', 'report_run_ended', 'run-ended'), ('recovery', 'report_recovery', 'recovery'),
      ('workflow', 'report_workflow_started', 'status'), ('workflow', 'report_workflow_status', 'status')) AS s(relation, trigger, news)
    CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM q.destination d WHERE s.news = ANY(d.news)) AS wanted) w
    JOIN pg_class c ON c.relnamespace = 'q'::regnamespace AND c.relname = s.relation
    JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = s.trigger
    WHERE (t.tgenabled <> 'D') <> w.wanted
    GROUP BY c.relname ORDER BY c.relname
  LOOP
    EXECUTE format('ALTER TABLE q.%I %s', change.relname, change.changes);
  END LOOP;
  PERFORM pg_notify('q_destination', '');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.follow_destinations IS 'Enables the triggers that write reports while a destination asks for them.';
CREATE TRIGGER destination_changed AFTER INSERT OR UPDATE OR DELETE ON q.destination FOR EACH STATEMENT
  EXECUTE FUNCTION q.follow_destinations();
UPDATE q.destination SET name = name;

-- ------------------------------------------------------------------------------------------------ rights
-- db/roles.sql grants rights on the tables that exist when it is applied. Replicas also write destinations: those of
-- Q_DESTINATIONS_FILE.
DO $$
DECLARE
  present text;
BEGIN
  FOR present IN SELECT rolname FROM pg_roles WHERE rolname IN ('q_client', 'q_reader', 'q_runner', 'q_admin') LOOP
    EXECUTE format('GRANT SELECT ON q.destination_state TO %I', present);
    IF present IN ('q_runner', 'q_admin') THEN
      EXECUTE format('GRANT INSERT, UPDATE, DELETE ON q.destination_state, q.destination TO %I', present);
    END IF;
  END LOOP;
END $$;
