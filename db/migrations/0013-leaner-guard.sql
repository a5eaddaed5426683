-- The same law for q.task_run at less cost. PostgreSQL reads the conditions of CHECKs and triggers again for each statement, so
-- their length counts: with small batches they were a quarter of what a statement cost.
--
-- Rows of the previous release keep all rules, and its replicas work beside this one: nothing is allowed or refused that was
-- not before. Only the names of the CHECKs have changed.

-- ------------------------------------------------------------------------------------------------ guard
-- The whole law, for all changes but the two usual ones.
CREATE FUNCTION q.guard_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (
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
  ) THEN
    RAISE EXCEPTION 'run %: % -> % is not a legal change', OLD.id, OLD.status, NEW.status
      USING ERRCODE = 'QS001', HINT = 'docs/reference/states.md lists the legal ones. A terminal run changes only by a retry, which opens a new epoch.';
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.guard_change() IS 'Refuses a change of a run that the table of states does not allow.';

-- The usual changes: claim and start in one step, and success. The law allows both; all others are judged by the function.
DROP TRIGGER task_run_guard ON q.task_run;
CREATE TRIGGER task_run_guard AFTER UPDATE ON q.task_run FOR EACH ROW
  WHEN (NOT (
    NEW.epoch = OLD.epoch AND NEW.crash_count = OLD.crash_count
    AND CASE NEW.status
      WHEN 'SUCCEEDED' THEN OLD.status = 'RUNNING' AND NEW.fence = OLD.fence AND NEW.attempt = OLD.attempt
      WHEN 'RUNNING' THEN OLD.status = 'AVAILABLE' AND NEW.fence = OLD.fence + 1 AND NEW.attempt = OLD.attempt + 1
      ELSE false
    END
  ))
  EXECUTE FUNCTION q.guard_change();

-- ------------------------------------------------------------------------------------------------ CHECKs
-- Six as one, by the order of the states: PENDING, AVAILABLE, CLAIMED, RUNNING, then the terminal ones from SUCCEEDED on.
-- Line by line: counts, and places of a key, are not negative or begin at one; a key has a scope; a run holds a place of its
-- key while it is AVAILABLE, CLAIMED or RUNNING; a run has a time of its end when it has ended; PENDING waits at a gate and
-- AVAILABLE at none; a held run has a holder; every end but success has a code; there are five gates, and a run at the
-- gate `task` keeps the options of its enqueue.
ALTER TABLE q.task_run
  DROP CONSTRAINT counts_are_counts,
  DROP CONSTRAINT key_has_a_scope,
  DROP CONSTRAINT live_key_has_a_slot,
  DROP CONSTRAINT slots_count_from_one,
  DROP CONSTRAINT state_has_its_columns,
  DROP CONSTRAINT waits_for_a_gate,
  ADD CONSTRAINT run_is_consistent CHECK (
    least(fence, attempt, crash_count, epoch - 1, max_attempts - 1, concurrency_slot - 1) >= 0
    AND (concurrency_key IS NULL) = (concurrency_scope IS NULL)
    AND (concurrency_slot IS NOT NULL) = (concurrency_key IS NOT NULL AND status BETWEEN 'AVAILABLE' AND 'RUNNING')
    AND (finished_at IS NULL) = (status <= 'RUNNING')
    AND CASE
      WHEN status <= 'AVAILABLE' THEN (waiting_for IS NULL) = (status = 'AVAILABLE')
      WHEN status <= 'RUNNING' THEN replica_id IS NOT NULL
      ELSE status = 'SUCCEEDED' OR (jsonb_typeof(result -> 'code') = 'string') IS TRUE
    END
    AND CASE WHEN waiting_for = 'task' THEN asked IS NOT NULL
      ELSE waiting_for IN ('parents', 'workflow', 'time', 'concurrency') IS NOT FALSE
    END
  );
COMMENT ON CONSTRAINT run_is_consistent ON q.task_run IS
  'What the columns of a run must have in common in each state. docs/reference/states.md lists the rules.';
