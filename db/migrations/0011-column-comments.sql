-- Comments alone: the meaning of null in on_crash, and the kinds of events.

COMMENT ON COLUMN q.task_run.on_crash IS 'Null: the task''s value as published in q.task, else the default that the holder registered, else fail.';
COMMENT ON COLUMN q.replica.on_crash IS 'For runs that have no value of their own and whose task has published none.';
COMMENT ON COLUMN q.task_event.kind IS 'refused-start, refused-beat, refused-checkpoint, refused-log, refused-enqueue, refused-settle: a write under a lost lease. claim-released, claim-recovered: the end of a claim before its start.';
