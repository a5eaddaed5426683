-- Comments only: three more columns that no program of q reads.

COMMENT ON COLUMN q.idle.since IS 'Since when it waits. Only for queries by people.';
COMMENT ON COLUMN q.workflow.updated_at IS 'When its status or its number of open steps changed last. Only for queries by people.';
COMMENT ON COLUMN q.run_tally.busy_ms IS 'Sum of the durations. Divided by slots and bucket length it is the utilisation. Only for queries by people.';
