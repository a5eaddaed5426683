-- Runs start when they are due, and only runs that can start hold a concurrency key.

-- ------------------------------------------------------------------------------------------------ time
-- Runs that are due at the same time pass the gate in the order of their enqueues.
CREATE INDEX task_run_due_order ON q.task_run (due_at, id) WHERE due_at IS NOT NULL;
DROP INDEX q.task_run_due;
ALTER INDEX q.task_run_due_order RENAME TO task_run_due;

-- A run that is due soon wakes replicas: they sleep until the next run that they know of is due.
CREATE OR REPLACE FUNCTION q.wake_idle() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM q.idle) THEN
    IF NEW.gated_key IS NOT NULL THEN
      PERFORM pg_notify('q_gated', left(NEW.gated_key, 1000));
    ELSIF NEW.due_at IS NOT NULL THEN
      PERFORM pg_notify('q_due', greatest(0, ceil(extract(epoch FROM NEW.due_at - clock_timestamp()) * 1000))::bigint::text);
    ELSE
      PERFORM pg_notify('q_ready', coalesce((SELECT queue FROM q.lane WHERE id = NEW.lane), ''));
    END IF;
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER task_run_wake ON q.task_run;
CREATE CONSTRAINT TRIGGER task_run_wake AFTER INSERT ON q.task_run DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW.ready OR NEW.gated_key IS NOT NULL OR NEW.due_at < clock_timestamp() + interval '1 minute')
    AND current_setting('q.quiet', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION q.wake_idle();

-- ------------------------------------------------------------------------------------------------ concurrency keys
-- The runs that wait for a key, by lane: the promotion passes over lanes whose runs cannot start, however many wait there.
-- Not beside the old index, which a plan could take instead. Replicas of the previous release use this one and sort.
CREATE INDEX task_run_gated_lane ON q.task_run (gated_key, lane, priority, id) WHERE gated_key IS NOT NULL;
DROP INDEX q.task_run_gated;
ALTER INDEX q.task_run_gated_lane RENAME TO task_run_gated;
-- AVAILABLE runs that hold a key, to be found when their queue is paused or no replica can serve them.
CREATE INDEX task_run_ready_keyed ON q.task_run (lane) WHERE ready AND concurrency_slot IS NOT NULL;
COMMENT ON TABLE q.queue IS 'What was decided about a queue. Claims pass over a paused one as a whole; its runs stay as they are, except that AVAILABLE ones give up their concurrency keys.';

-- ------------------------------------------------------------------------------------------------ runs that no replica can serve
ALTER TABLE q.lane ADD COLUMN unserved_at timestamptz, ADD COLUMN unserved_seen_at timestamptz;
COMMENT ON COLUMN q.lane.unserved_at IS 'Since when no live replica serves it; written by replicas that fail unroutable runs.';
COMMENT ON COLUMN q.lane.unserved_seen_at IS 'When this was checked last. After a gap the time counts from the beginning.';

-- ------------------------------------------------------------------------------------------------ guard
-- Without CLAIMED -> FAILED, which no program has ever performed: a payload is checked after the start.
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
          WHEN 'CLAIMED' THEN '{PENDING,AVAILABLE,RUNNING,CANCELLED,EXPIRED}'::q.task_status[]
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
