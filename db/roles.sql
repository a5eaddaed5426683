-- Roles with the least privileges for each use of q. Run it with psql as the owner of the schema (the role that migrates)
-- or as a superuser, and again after each migration, to grant privileges on new tables. It changes nothing else.
--
--   psql "$DATABASE_URL" -f db/roles.sql
--
-- The roles cannot log in. Grant them to your own roles:  CREATE ROLE shop LOGIN PASSWORD '…' IN ROLE q_client;
--
--   q_producer  calls q.enqueue() and nothing else: no privilege on any table
--   q_client    queue() of @q/client: enqueue (also inside its own transactions), read, wait, cancel, retry
--   q_reader    reads everything, including payloads and results
--   q_runner    a replica
--   q_admin     an operator: everything except DDL and the tables of the migrator
\set ON_ERROR_STOP on
BEGIN;

DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY '{q_producer,q_client,q_reader,q_runner,q_admin}'::text[] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- it is there, perhaps since this moment
    END;
  END LOOP;
END $$;

-- Revoke everything first, so that a privilege that is no longer listed here is removed.
REVOKE ALL ON ALL TABLES IN SCHEMA q FROM q_producer, q_client, q_reader, q_runner, q_admin, PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA q FROM q_producer, q_client, q_reader, q_runner, q_admin, PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA q FROM q_producer, q_client, q_reader, q_runner, q_admin, PUBLIC;
GRANT USAGE ON SCHEMA q TO q_producer, q_client, q_reader, q_runner, q_admin;

GRANT EXECUTE ON FUNCTION q.enqueue TO q_producer, q_client, q_runner, q_admin;
GRANT EXECUTE ON FUNCTION q.wake_text, q.older_replica_waits TO q_client, q_runner, q_admin;

GRANT SELECT ON ALL TABLES IN SCHEMA q TO q_client, q_reader, q_runner, q_admin;

-- It may change and remove runs, like the application that owns them. An application that must not is a q_producer.
GRANT INSERT, UPDATE, DELETE ON q.task_run, q.unique_period, q.debounce, q.awaited, q.awaited_workflow, q.schedule, q.run_group TO q_client;
GRANT INSERT ON q.lane, q.schedule_tick, q.task_attempt, q.task_event, q.delivery, q.workflow, q.workflow_step, q.workflow_edge, q.run_origin TO q_client;
GRANT UPDATE ON q.delivery, q.workflow, q.workflow_step TO q_client;
-- Its retry of a run that was running when a replica died counts as a review.
GRANT UPDATE (reviewed_at, reviewed_by) ON q.recovery TO q_client;
GRANT DELETE ON q.task_heartbeat TO q_client;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA q TO q_client, q_runner, q_admin;

GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA q TO q_runner, q_admin;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA q TO q_runner, q_admin;
-- Replicas only read the decisions of people. They write the destinations of Q_DESTINATIONS_FILE.
REVOKE INSERT, UPDATE, DELETE ON q.queue, q.run_group FROM q_runner;
-- The tables of the migrator.
REVOKE INSERT, UPDATE, DELETE ON q.migration, q.migration_lock, q.compatibility FROM q_runner, q_admin;

COMMIT;
