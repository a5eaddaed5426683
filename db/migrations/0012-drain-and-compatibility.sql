-- A drain that can be undone, and programs that are too old for this database.

-- ------------------------------------------------------------------------------------------------ drain
ALTER TABLE q.replica
  ADD COLUMN drain_on_deadline text NOT NULL DEFAULT 'by-task',
  ADD COLUMN leaving_at timestamptz,
  ADD COLUMN level integer,
  ADD CONSTRAINT replica_drain_on_deadline_check CHECK (drain_on_deadline IN ('by-task', 'release', 'fail'));

COMMENT ON COLUMN q.replica.drain_deadline IS 'When a draining replica stops its remaining runs. Null: it waits until they have finished.';
COMMENT ON COLUMN q.replica.drain_on_deadline IS 'What happens to the runs that the replica stops at the deadline: by-task (onCrash decides), release or fail.';
COMMENT ON COLUMN q.replica.leaving_at IS 'Since when the replica leaves for good: its drain can no longer be undone.';
COMMENT ON COLUMN q.replica.level IS 'Number of the newest migration that the program of this replica knows. Null: a release that does not report it.';

-- ------------------------------------------------------------------------------------------------ compatibility
-- A program that does not know 0006 and 0007 starts the steps of workflows without the results they need.
UPDATE q.compatibility SET oldest_program = greatest(oldest_program, 7);

-- Earlier releases do not read from their heartbeats that they are too old. They understand an order to drain.
WITH ordered AS (
  UPDATE q.replica SET draining_at = clock_timestamp(), draining_by = 'a migration'
  WHERE stopped_at IS NULL AND draining_at IS NULL AND (SELECT oldest_program > 7 FROM q.compatibility)
  RETURNING id
)
SELECT pg_notify('q_drain', id) FROM ordered;
