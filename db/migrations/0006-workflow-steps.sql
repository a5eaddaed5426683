-- What a workflow needs beyond its graph: what each step is, what it waits for, how the whole is going to end. Steps are
-- runs: everything here is about runs, and nothing here is a second status of one.

-- ------------------------------------------------------------------------------------------------ the gate
-- Steps of a paused workflow wait here, between their parents and the other gates.
ALTER TABLE q.task_run DROP CONSTRAINT waits_for_a_gate;
ALTER TABLE q.task_run ADD CONSTRAINT waits_for_a_gate CHECK (waiting_for IN ('parents', 'workflow', 'time', 'concurrency'));
COMMENT ON COLUMN q.task_run.waiting_for IS 'The gate a PENDING run is at: parents, workflow (it is paused), time, concurrency (passed in this order).';

-- ------------------------------------------------------------------------------------------------ workflow
ALTER TABLE q.workflow
  ADD COLUMN root_id bigint,
  ADD COLUMN ends_as q.workflow_status CHECK (ends_as IN ('FAILED', 'CANCELLED')),
  ADD COLUMN compensated_at timestamptz,
  ADD COLUMN paused_at timestamptz,
  ADD COLUMN paused_by text;
COMMENT ON COLUMN q.workflow.root_id IS 'The outermost workflow this one is part of; null: itself. Whoever changes steps locks the row of their outermost workflow first, in the order of ids.';
COMMENT ON COLUMN q.workflow.ends_as IS 'Decided while steps are still open: nothing more is started, and this is how it ends.';
COMMENT ON COLUMN q.workflow.compensated_at IS 'When its compensation began. From then on it cannot be retried.';
CREATE INDEX workflow_live ON q.workflow (id) WHERE finished_at IS NULL;
CREATE INDEX workflow_parent ON q.workflow (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX workflow_root ON q.workflow (root_id) WHERE root_id IS NOT NULL;

-- ------------------------------------------------------------------------------------------------ workflow_step
ALTER TABLE q.workflow_step
  ADD COLUMN item_of bigint,
  ADD COLUMN item_index integer,
  ADD COLUMN needs integer NOT NULL DEFAULT 0,
  ADD COLUMN parallel_max integer CHECK (parallel_max >= 1),
  ADD COLUMN next_item integer NOT NULL DEFAULT 0,
  ADD COLUMN delay_ms float8,
  ADD COLUMN conditional boolean NOT NULL DEFAULT false,
  ADD COLUMN expanded boolean NOT NULL DEFAULT false,
  ADD COLUMN kind text NOT NULL DEFAULT 'task' CHECK (kind IN ('task', 'map', 'workflow', 'item', 'compensation')),
  ADD COLUMN plan jsonb,
  ADD CONSTRAINT items_belong CHECK ((kind = 'item') = (item_of IS NOT NULL AND item_index IS NOT NULL));
COMMENT ON COLUMN q.workflow_step.kind IS 'What it is: a run of a task; a map or a workflow, which no code executes (their runs are in lane 0, which nobody asks for); an item of a map; the undoing of a step.';
COMMENT ON COLUMN q.workflow_step.item_of IS 'The map step whose list this is an item of.';
COMMENT ON COLUMN q.workflow_step.needs IS 'How many of its parents its join needs. With their states it gives waiting_on and tolerates again.';
COMMENT ON COLUMN q.workflow_step.parallel_max IS 'Of a map: how many items may be under way at a time.';
COMMENT ON COLUMN q.workflow_step.next_item IS 'Of a map with parallel_max: the first item that has not been let go.';
COMMENT ON COLUMN q.workflow_step.delay_ms IS 'Counted from the moment its parents let it go.';
COMMENT ON COLUMN q.workflow_step.conditional IS 'Its plan has a condition, which is judged when its parents let it go.';
COMMENT ON COLUMN q.workflow_step.expanded IS 'Of a map or workflow step: its items, or its workflow, have been made, and it waits for their end.';
COMMENT ON COLUMN q.workflow_step.plan IS 'What cannot be said in columns: condition, compensation, what a map maps over, the graph of a workflow step.';
CREATE INDEX workflow_step_item ON q.workflow_step (item_of, item_index) WHERE item_of IS NOT NULL;

-- ------------------------------------------------------------------------------------------------ wakes
CREATE UNLOGGED TABLE q.awaited_workflow (
  workflow_id bigint PRIMARY KEY
);
COMMENT ON TABLE q.awaited_workflow IS 'Workflows whose end somebody waits for: ending one of them sends a wake. Unlogged: a lost hint costs a poll.';
