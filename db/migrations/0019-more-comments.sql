-- Comments that were unclear or missing, above all on columns that no program of q reads.

COMMENT ON COLUMN q.task_run.fence IS 'Raised by every claim, and by every change that takes the run from its holder or lets it start again. (id, fence) is the lease that a holder presents with every write.';
COMMENT ON COLUMN q.replica.speed IS 'Always 1; no program reads it.';
COMMENT ON COLUMN q.task.published_at IS 'When it was published last. Only for queries by people.';
COMMENT ON COLUMN q.schedule.updated_at IS 'When the schedule was changed last. Only for queries by people.';
COMMENT ON COLUMN q.task_attempt.claimed_at IS 'When the holder claimed the run for this attempt. Only for queries by people.';
COMMENT ON COLUMN q.recovery.hostname IS 'The host of the dead holder, which stays known when its row in q.replica has been removed. Only for queries by people.';
COMMENT ON COLUMN q.task_heartbeat.hostname IS 'The host of the sender. Read by the view q.heartbeats alone.';
COMMENT ON COLUMN q.task_heartbeat.pid IS 'The process of the sender. Read by the view q.heartbeats alone.';
COMMENT ON VIEW q.heartbeats IS 'The heartbeats of runs for queries by people and other systems, with one text id for the sender, as in the first design of q. No program of q reads it.';
