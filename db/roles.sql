-- Roles with the least rights for each use of q. Run it with psql as the owner of the schema (who migrates), or as a
-- superuser; run it again after each migration: rights on new tables are given then. It changes nothing else.
--
--   psql "$DATABASE_URL" -f db/roles.sql
--
-- The roles cannot log in. Give them to your own:  CREATE ROLE shop LOGIN PASSWORD '…' IN ROLE q_client;
--
--   q_producer  calls q.enqueue(), and can do nothing else: no right on any table
--   q_client    queue() of @q/client: enqueue, also inside its own transactions, look, wait, cancel, retry
--   q_reader    sees everything, payloads and results too
--   q_runner    a replica
--   q_admin     a person or program in charge: everything but DDL and what the migrator keeps for itself
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

-- Begin with nothing, so that a right that is not listed here any more is gone.
REVOKE ALL ON ALL TABLES IN SCHEMA q FROM q_producer, q_client, q_reader, q_runner, q_admin, PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA q FROM q_producer, q_client, q_reader, q_runner, q_admin, PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA q FROM q_producer, q_client, q_reader, q_runner, q_admin, PUBLIC;
GRANT USAGE ON SCHEMA q TO q_producer, q_client, q_reader, q_runner, q_admin;

GRANT EXECUTE ON FUNCTION q.enqueue TO q_producer, q_client, q_runner, q_admin;

GRANT SELECT ON ALL TABLES IN SCHEMA q TO q_client, q_reader, q_runner, q_admin;

-- It may change and remove runs, as the application whose runs they are. Whoever may not is a q_producer.
GRANT INSERT, UPDATE, DELETE ON q.task_run, q.unique_period, q.debounce, q.awaited, q.schedule TO q_client;
GRANT INSERT ON q.lane, q.schedule_tick, q.task_attempt, q.task_event, q.delivery, q.workflow, q.workflow_step, q.workflow_edge TO q_client;
GRANT UPDATE ON q.delivery, q.workflow, q.workflow_step TO q_client;
GRANT DELETE ON q.task_heartbeat TO q_client;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA q TO q_client, q_runner, q_admin;

GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA q TO q_runner, q_admin;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA q TO q_runner, q_admin;
-- What people decide, replicas only read.
REVOKE INSERT, UPDATE, DELETE ON q.queue, q.destination, q.run_group FROM q_runner;
-- The migrator's own.
REVOKE INSERT, UPDATE, DELETE ON q.migration, q.migration_lock, q.compatibility FROM q_runner, q_admin;

COMMIT;
