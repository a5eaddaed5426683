-- Comments only: plainer words for tables, columns, types and functions. Programs of every release are unaffected.

-- ------------------------------------------------------------------------------------------------ types
COMMENT ON TYPE q.on_crash IS 'What happens to a RUNNING run whose holder died. fail: it ends FAILED. retry: it starts again, up to a limit.';
COMMENT ON TYPE q.task_status IS 'The state of a run. The last five are terminal. docs/reference/states.md has the transitions.';

-- ------------------------------------------------------------------------------------------------ runs
COMMENT ON COLUMN q.task_run.expires_at IS 'A run that has not started by then ends EXPIRED.';
COMMENT ON COLUMN q.task_run.lane IS 'q.lane.id: queue, task and required capabilities. 0: no replica can claim the run (its task is not published, or it is a map or sub-workflow step). Not a foreign key, whose check every enqueue would pay for.';
COMMENT ON COLUMN q.task_run.timeout_ms IS 'Wall clock limit of one attempt. Null: the limit of the task.';
COMMENT ON COLUMN q.task_run.max_silent_ms IS 'Longest time without a sign of life from the code in one attempt. Null: the limit of the task.';
COMMENT ON COLUMN q.task_run.on_crash IS 'Null: the value that the task has published in q.task, else the default of the holder, else fail.';
COMMENT ON COLUMN q.task_run.max_attempts IS 'Attempts allowed in one epoch when the code fails.';
COMMENT ON COLUMN q.task_run.fence IS 'Raised by every claim and every recovery. (id, fence) is the lease that a holder presents with every write.';
COMMENT ON COLUMN q.task_run.attempt IS 'Starts of the code in this epoch, without those that were released or snoozed.';
COMMENT ON COLUMN q.task_run.crash_count IS 'Attempts of this epoch that ended because the holder, its thread or its child process died.';
COMMENT ON COLUMN q.task_run.epoch IS 'Raised by a manual retry. Run and epoch form the idempotency key.';
COMMENT ON COLUMN q.task_run.concurrency_slot IS 'The slot of the concurrency key that this run occupies while it is AVAILABLE, CLAIMED or RUNNING.';
COMMENT ON COLUMN q.task_run.run_at IS 'The run does not start before this time. Runs of one priority are claimed in this order.';
COMMENT ON COLUMN q.task_run.waiting_on IS 'How many parents must still succeed or end before the step can start.';
COMMENT ON COLUMN q.task_run.replica_id IS 'The holder; of a terminal run, the last holder.';
COMMENT ON COLUMN q.task_run.waiting_for IS 'The gate at which a PENDING run waits: parents, workflow (paused), task (not published), time, concurrency. A run passes the gates in this order.';
COMMENT ON COLUMN q.task_run.result IS 'Return value of a SUCCEEDED run; of every other terminal run an object with code and detail.';
COMMENT ON COLUMN q.task_run.checkpoint IS 'The state that the code saved last; a later attempt continues from it.';
COMMENT ON COLUMN q.task_run.grp IS 'Group: the groups of a queue get fair shares of it.';
COMMENT ON COLUMN q.task_run.unique_key IS 'At most one live run of a task has a given unique key.';
COMMENT ON COLUMN q.task_run.concurrency_scope IS 'Names the limit that applies to the key: the name of the task, or a name that several tasks share.';
COMMENT ON COLUMN q.task_run.concurrency_key IS 'The key, prefixed with its scope. The limit of the scope is the most runs with the same key that may be AVAILABLE, CLAIMED or RUNNING at a time.';
COMMENT ON COLUMN q.task_run.trace IS 'Trace context that the producer passed.';
COMMENT ON COLUMN q.task_run.asked IS 'The options of the enqueue, kept until the task is published: queue, priority, max_attempts; own_law is set if the enqueue had its own unique key, throttle or debounce. The published task provides the other options.';
COMMENT ON CONSTRAINT run_is_consistent ON q.task_run IS 'Which columns a run has in each state. docs/reference/states.md lists the rules.';

COMMENT ON TABLE q.task_attempt IS 'Ended attempts, never updated. A successful attempt has no row: a second row per success would cost too much. q.task_run has its values until a manual retry opens a new epoch.';
COMMENT ON COLUMN q.task_attempt.fence IS 'The fence of the claim that started the attempt.';
COMMENT ON COLUMN q.task_attempt.thread IS 'The slot of the replica that executed it.';
COMMENT ON COLUMN q.task_attempt.fingerprint IS 'q.error_group.fingerprint of the error that ended the attempt. Null: it ended without an error, or a replica of an older release ended it.';

COMMENT ON TABLE q.task_event IS 'Events of a run that neither the run nor its attempts show. One row per claim and kind, however often a zombie retries a write.';
COMMENT ON COLUMN q.task_event.kind IS 'refused-start, refused-beat, refused-checkpoint, refused-log, refused-enqueue, refused-settle: a write under a lost lease. claim-released, claim-recovered: a claim ended before the run started. schedule-run-now, run-again: a person enqueued the run, from a schedule or from an earlier run.';

COMMENT ON TABLE q.task_heartbeat IS 'The last heartbeat of each run that lasts longer than a heartbeat interval. The holder sends it while the run is CLAIMED (role claimer) or RUNNING (role runner).';
COMMENT ON COLUMN q.task_heartbeat.fence IS 'The fence of the claim that sent it. A heartbeat of an earlier claim does not count.';
COMMENT ON COLUMN q.task_heartbeat.sent_at IS 'When the code last gave a sign of life, by the clock of the database.';
COMMENT ON COLUMN q.task_heartbeat.progress IS '0 to 1, as reported by the code.';
COMMENT ON COLUMN q.task_heartbeat.sender_id IS 'The replica; for runner heartbeats replica/thread.';

COMMENT ON TABLE q.task_log IS 'Log lines of the code of runs, limited per run, removed with the run.';
COMMENT ON COLUMN q.task_log.line_no IS 'Counted from 1 within one claim. A line that is sent twice is stored once.';
COMMENT ON COLUMN q.task_log.level IS 'Level as in pino: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal.';

COMMENT ON TABLE q.run_origin IS 'The run from which another run was made. Not a column of the run: most runs have no origin, and every enqueue would pay for an index. Removed with the run.';
COMMENT ON COLUMN q.run_origin.origin_id IS 'The run from which it was made, which may have been pruned.';
COMMENT ON COLUMN q.run_origin.kind IS 'again: a person ran the origin again, possibly with another payload. child: the code of the origin enqueued it.';

COMMENT ON TABLE q.awaited IS 'Runs whose end a caller waits for: the end of such a run sends a wake. Not a column of the run, because an update would lock the run against a concurrent claim. Unlogged: a lost row costs one poll.';
COMMENT ON TABLE q.awaited_workflow IS 'Workflows whose end a caller waits for: the end of such a workflow sends a wake. Unlogged: a lost row costs one poll.';

COMMENT ON TABLE q.unique_period IS 'Keys that are taken for a period, whatever happens to the run that took them: unique keys with a period, and throttles.';
COMMENT ON TABLE q.debounce IS 'The run that the last enqueue with a debounce key created or changed. Every such enqueue locks the row, so they run one after the other. Removed with the run.';
COMMENT ON TABLE q.concurrency_limit IS 'The most runs of one concurrency key that may be AVAILABLE, CLAIMED or RUNNING at a time, per scope. A scope without a row has the limit 1.';

-- ------------------------------------------------------------------------------------------------ queues, lanes, tasks
COMMENT ON TABLE q.queue IS 'Settings of a queue. Claims skip a paused queue; its runs keep their state, except that AVAILABLE runs release their concurrency slots.';
COMMENT ON TABLE q.run_group IS 'Groups with more than one share of their queue. A group without a row has weight 1.';
COMMENT ON TABLE q.lane IS 'A combination of queue, task and required capabilities, stored as a number. A replica reads only the lanes that it can serve; the others cost it nothing.';
COMMENT ON COLUMN q.lane.requires IS 'Capabilities that a replica must have, sorted.';
COMMENT ON COLUMN q.lane.unserved_at IS 'Since when no live replica serves the lane. Written by replicas that fail unroutable runs.';
COMMENT ON COLUMN q.lane.unserved_seen_at IS 'When unserved_at was last confirmed. After a long gap between checks unserved_at starts again.';
COMMENT ON TABLE q.task IS 'The tasks that replicas know. Replicas publish them, so that every producer enqueues with the right options.';
COMMENT ON COLUMN q.task.options IS 'The options of the task, under the names of optionData in @q/task. q.enqueue() uses priority, requires, onCrash, retry, concurrency, unique, throttle, debounce and expiresMs; replicas use the others.';
COMMENT ON COLUMN q.task.payload_schema IS 'JSON Schema of the payload, if the validator of the task provides one.';
COMMENT ON COLUMN q.task.published_by IS 'The replica that published it last.';

-- ------------------------------------------------------------------------------------------------ replicas
COMMENT ON TABLE q.replica IS 'A worker process, also called a node; one row per start of a process.';
COMMENT ON COLUMN q.replica.id IS '12 random characters, new at every start.';
COMMENT ON COLUMN q.replica.num IS 'The key of its presence lock.';
COMMENT ON COLUMN q.replica.name IS 'Name for people: the host name, made unique among live replicas.';
COMMENT ON COLUMN q.replica.queues IS 'Queues it claims from. Empty: all queues.';
COMMENT ON COLUMN q.replica.tasks IS 'Tasks it can execute.';
COMMENT ON COLUMN q.replica.slots IS 'How many runs it can execute at a time.';
COMMENT ON COLUMN q.replica.on_crash IS 'Applies to runs that have no value of their own and whose task has published none.';
COMMENT ON COLUMN q.replica.replica_stale_ms IS 'Every replica has its own thresholds, so that a replica with long intervals is not recovered by one with short intervals.';
COMMENT ON COLUMN q.replica.presence_grace_ms IS 'How long after its session broke the replica may still prove that it is alive.';
COMMENT ON COLUMN q.replica.drain_deadline IS 'When a draining replica stops its remaining runs. Null: it waits until they have finished.';
COMMENT ON COLUMN q.replica.drain_on_deadline IS 'What happens to runs that the replica stops at the deadline. by-task: onCrash decides. release: they are released. fail: they fail.';
COMMENT ON COLUMN q.replica.leaving_at IS 'When the replica began to shut down. From then on its drain cannot be undone.';
COMMENT ON COLUMN q.replica.level IS 'Number of the newest migration that the program of the replica knows. Null: a release that does not report it.';
COMMENT ON COLUMN q.replica.recovers IS 'Whether the replica recovers runs of dead replicas. False: its settings turn off the recovery of CLAIMED or RUNNING runs.';

COMMENT ON TABLE q.replica_heartbeat IS 'The last heartbeat of each replica, updated in place.';
COMMENT ON COLUMN q.replica_heartbeat.last_heartbeat IS 'By the clock of the database.';
COMMENT ON COLUMN q.replica_heartbeat.memory_mb IS 'Resident memory of the process.';
COMMENT ON COLUMN q.replica_heartbeat.cpu_percent IS 'CPU use over the last interval, as a share of all cores.';
COMMENT ON COLUMN q.replica_heartbeat.completed IS 'Runs that ended SUCCEEDED since the replica started.';
COMMENT ON COLUMN q.replica_heartbeat.threads IS 'What each thread was doing at the time of the heartbeat; limited in size.';
COMMENT ON TABLE q.replica_sample IS 'Process stats of replicas over time; old rows are removed.';
COMMENT ON TABLE q.heartbeat_failure IS 'Heartbeats that could not be sent. The replica writes them once the database answers again.';
COMMENT ON TABLE q.beat_gap IS 'Intervals in which a live replica sent no heartbeat, longer than 1.5 times its heartbeat interval. Written by the heartbeat that ends the gap.';
COMMENT ON TABLE q.beat_streak IS 'One row: how long the server has accepted heartbeats of any replica without a gap. Written at most twice a second. Unlogged: a crash or promotion of the server empties it, and the streak starts again.';
COMMENT ON COLUMN q.beat_streak.server_start IS 'Start time of the server that accepted the heartbeats.';
COMMENT ON COLUMN q.beat_streak.good_since IS 'Element k: since when there has been no gap longer than 2^(k-1) seconds.';
COMMENT ON TABLE q.presence IS 'Replicas that hold their presence lock. Unlogged: a crash or promotion of the server ends all locks and empties the table, so that no replica looks dead because of it.';
COMMENT ON COLUMN q.presence.num IS 'q.replica.num, the key of the advisory lock.';
COMMENT ON COLUMN q.presence.server_start IS 'Start time of the server in which the lock was taken.';
COMMENT ON COLUMN q.presence.gone_at IS 'When a watcher first saw the lock missing. Stored here, so that the grace does not start again when another replica becomes the watcher.';
COMMENT ON TABLE q.idle IS 'Replicas that wait for work. Unlogged: a lost row costs one poll.';
COMMENT ON TABLE q.duty IS 'Leases for jobs that one replica at a time does for all. Not session locks, which a stopped process would keep.';
COMMENT ON TABLE q.compatibility IS 'The programs that may use this database. A migration that breaks older programs raises oldest_program.';
COMMENT ON COLUMN q.compatibility.oldest_program IS 'Number of the newest migration that a program must know.';

COMMENT ON TABLE q.recovery IS 'Recoveries of runs whose holder was considered dead, one row each.';
COMMENT ON COLUMN q.recovery.fence IS 'The fence of the claim that the recovery ended.';
COMMENT ON COLUMN q.recovery.cause IS 'The evidence that was missing.';
COMMENT ON COLUMN q.recovery.reviewed_at IS 'When a person accepted the outcome of a run that was running when its replica died, or retried the run. A recovery that became FAILED and has no value is waiting for review.';

-- ------------------------------------------------------------------------------------------------ stats and errors
COMMENT ON TABLE q.run_tally IS 'Starts and ends of runs per minute, and per hour for times older than a day. Each replica counts in memory and flushes every few seconds; a killed replica loses the counts of its last seconds.';
COMMENT ON COLUMN q.run_tally.bucket_at IS 'Start of the minute or hour, by the clock of the database when the counts were flushed.';
COMMENT ON COLUMN q.run_tally.width_s IS 'Length of the bucket in seconds: 60 or 3600.';
COMMENT ON COLUMN q.run_tally.retried IS 'Attempts that ended and whose run will start again: after an error, a snooze or a release.';
COMMENT ON COLUMN q.run_tally.busy_ms IS 'Sum of the durations. Divided by slots and bucket length it is the utilisation.';
COMMENT ON COLUMN q.run_tally.wait_histogram IS 'Time from due to start, first starts only. Element i counts waits of at most 2^((i-1)/2) ms that are longer than the limit of the element before; there are at most 60 elements, and the last has no limit.';
COMMENT ON COLUMN q.run_tally.duration_histogram IS 'Duration of attempts, in the same buckets.';
COMMENT ON COLUMN q.run_tally.task IS 'Task name; … stands for the tasks beyond the number that one flush may name.';
COMMENT ON TABLE q.tally_flush IS 'Number of the last flush that each replica committed. A flush whose answer was lost is sent again with the same number and then adds nothing.';
COMMENT ON TABLE q.queue_sample IS 'Length of each queue over time; old rows are removed. One replica at a time writes it.';
COMMENT ON COLUMN q.queue_sample.oldest_ms IS 'Age of the oldest AVAILABLE run. Null: there is none.';
COMMENT ON COLUMN q.queue_sample.ready IS 'AVAILABLE runs, counted up to a limit.';
COMMENT ON COLUMN q.queue_sample.waiting_time IS 'PENDING runs at the gate time, counted up to a limit.';
COMMENT ON COLUMN q.queue_sample.waiting_concurrency IS 'PENDING runs at the gate concurrency, counted up to a limit.';
COMMENT ON COLUMN q.queue_sample.at_least IS 'Whether a count reached the limit, so that there may be more.';
COMMENT ON TABLE q.error_group IS 'Errors that share code, class, text and place, and so probably their cause. Replicas add to it every few seconds, not in the settle: during an error storm every settle would wait for one row.';
COMMENT ON COLUMN q.error_group.fingerprint IS '16 hexadecimal digits that the replica computed, or text that the code set on the error.';
COMMENT ON COLUMN q.error_group.muted_until IS 'Until then the group is not listed under attention.';
COMMENT ON COLUMN q.error_group.message IS 'Text of the error, with placeholders for numbers, ids, times, quoted text and paths.';
COMMENT ON COLUMN q.error_group.place IS 'Function and file of the first stack frame outside of libraries, without the line number.';
COMMENT ON COLUMN q.error_group.tasks IS 'Tasks that failed with the error, at most 20.';
COMMENT ON COLUMN q.error_group.versions IS 'Versions of the replicas on which it occurred, at most 20.';
COMMENT ON TABLE q.error_tally IS 'Occurrences of each error group per hour, for 7 days.';

-- ------------------------------------------------------------------------------------------------ operations, audit, deliveries
COMMENT ON TABLE q.operation IS 'An action on all runs that match a filter. The replica that has its lease executes it in steps; each step commits its changes together with its position.';
COMMENT ON COLUMN q.operation.upper_id IS 'The newest run at the time of the request. Newer runs are not changed.';
COMMENT ON COLUMN q.operation.next_id IS 'The newest run that is still to be checked; the operation proceeds to older runs. Null: all runs have been checked.';
COMMENT ON COLUMN q.operation.looked IS 'Matching runs on which the action was tried.';
COMMENT ON COLUMN q.operation.changed IS 'Runs that the operation changed.';
COMMENT ON COLUMN q.operation.stop_asked_at IS 'When a person asked to stop the operation; the next step ends it.';
COMMENT ON COLUMN q.operation.leased_until IS 'Until then leased_by executes the operation; after that any replica may take it.';
COMMENT ON COLUMN q.operation.filter IS 'The filter of runs, as JSON.';
COMMENT ON COLUMN q.operation.answers IS 'How often each answer occurred: {"retried": 900, "conflict": 3}.';
COMMENT ON TABLE q.action IS 'Audit log: what people did through the page, the HTTP API or the command line. Calls of the store and plain SQL leave no row.';
COMMENT ON COLUMN q.action.what IS 'The action: drain, cancel, retry, pause, ….';
COMMENT ON COLUMN q.action.subject IS 'The object of the action: a run, node, queue, schedule, ….';
COMMENT ON COLUMN q.action.answer IS 'The answer of the action. asked: the action began and its end was not recorded.';
COMMENT ON TABLE q.delivery IS 'The outbox: reports to destinations, written in the transaction that caused them and sent at least once under a stable id.';
COMMENT ON COLUMN q.delivery.due_at IS 'When it is sent next. Null: delivered or given up.';
COMMENT ON COLUMN q.delivery.leased_until IS 'Until then leased_by sends it; after that any replica may.';
COMMENT ON COLUMN q.delivery.subject IS 'What the report is about, one row each: a second report of the same change has no effect, and a new heartbeat of a replica replaces the previous one.';
COMMENT ON TABLE q.destination IS 'External systems that receive reports. Holds no secrets: settings name the environment variables that do.';
COMMENT ON COLUMN q.destination.news IS 'Reports it receives: run-ended, status, heartbeat, sample.';
COMMENT ON COLUMN q.destination.tasks IS 'Only runs of these tasks. Empty: runs of all tasks.';

-- ------------------------------------------------------------------------------------------------ schedules
COMMENT ON TABLE q.schedule IS 'Tasks that are enqueued by time: one run per tick, however many replicas check.';
COMMENT ON COLUMN q.schedule.name IS 'A schedule that the code of a task declares is named task:<task>.';
COMMENT ON COLUMN q.schedule.cron IS 'Five fields, or six with seconds first, evaluated in the time zone.';
COMMENT ON COLUMN q.schedule.missed IS 'Which ticks are made up for after an outage: none, the last one, or all up to a limit.';
COMMENT ON COLUMN q.schedule.options IS 'Options of its runs: priority, group, expiresInMs.';
COMMENT ON COLUMN q.schedule.last_tick IS 'The last tick that was enqueued.';
COMMENT ON COLUMN q.schedule.next_tick IS 'Null: to be computed. Not after seen_until: still due from before a change of the pattern. Infinity: there is no further tick.';
COMMENT ON COLUMN q.schedule.published_by IS 'The replica whose code declares the schedule. Null: a user created it.';
COMMENT ON COLUMN q.schedule.version IS 'Raised by every change. A tick is enqueued in the transaction that raises the version it read, so only one replica enqueues it.';
COMMENT ON COLUMN q.schedule.seen_until IS 'Every tick up to this time has been enqueued or skipped.';
COMMENT ON TABLE q.schedule_tick IS 'The run of each tick. A tick gets one run, even if the schedule is turned back. Removed with the run.';

-- ------------------------------------------------------------------------------------------------ workflows
COMMENT ON TABLE q.workflow IS 'Runs that depend on each other. Its steps are runs, so that no second status can disagree with theirs.';
COMMENT ON COLUMN q.workflow.parent_run_id IS 'Of a sub-workflow: the step of the other workflow.';
COMMENT ON COLUMN q.workflow.on_error IS 'What happens to the other steps when a step fails.';
COMMENT ON COLUMN q.workflow.definition IS 'The plan with which it was started, and the options of its tasks at that time.';
COMMENT ON COLUMN q.workflow.root_id IS 'The outermost workflow that contains this one. Null: it is not a sub-workflow. A transaction that changes steps first locks the rows of their outermost workflows, in the order of ids.';
COMMENT ON COLUMN q.workflow.ends_as IS 'Set while steps are still open: nothing more starts, and the workflow will end in this state.';
COMMENT ON COLUMN q.workflow.compensated_at IS 'When its compensation began. From then on the workflow cannot be retried.';
COMMENT ON TABLE q.workflow_edge IS 'The child waits for the parent. Written with the runs, never updated.';
COMMENT ON TABLE q.workflow_step IS 'The role of a run within its workflow. q.task_run.waiting_on is the number of parents that must still succeed: all, one, or a quorum.';
COMMENT ON COLUMN q.workflow_step.tolerates IS 'How many parents may still end without success before the step can no longer start. Below 0 the step is SKIPPED.';
COMMENT ON COLUMN q.workflow_step.allows_failed IS 'Whether any end of a parent counts, not only its success.';
COMMENT ON COLUMN q.workflow_step.inputs IS 'JSON pointers into the payload at which results of other steps are inserted.';
COMMENT ON COLUMN q.workflow_step.item_of IS 'The map step of which this is an item.';
COMMENT ON COLUMN q.workflow_step.needs IS 'How many parents the join needs. waiting_on and tolerates can be computed again from it and the states of the parents.';
COMMENT ON COLUMN q.workflow_step.parallel_max IS 'Of a map: how many items may be open at a time.';
COMMENT ON COLUMN q.workflow_step.next_item IS 'Of a map with parallel_max: the first item that has not been released.';
COMMENT ON COLUMN q.workflow_step.delay_ms IS 'Delay after the step was released by its parents.';
COMMENT ON COLUMN q.workflow_step.conditional IS 'Whether its plan has a condition, which is evaluated when its parents release it.';
COMMENT ON COLUMN q.workflow_step.expanded IS 'Of a map or sub-workflow step: whether its items or its workflow have been created. It then waits for their end.';
COMMENT ON COLUMN q.workflow_step.kind IS 'task: a run of a task. map, workflow: no code executes it; its run is in lane 0, from which no replica claims. item: an item of a map. compensation: undoes a step.';
COMMENT ON COLUMN q.workflow_step.plan IS 'The parts of the plan that have no column: condition, compensation, the list of a map, the plan of a sub-workflow.';

-- ------------------------------------------------------------------------------------------------ functions
COMMENT ON VIEW q.heartbeats IS 'q.task_heartbeat with the column names of other systems.';
COMMENT ON FUNCTION q.canonical_json(pg_catalog.jsonb) IS 'JSON text that is equal for equal values: sorted members, numbers as JavaScript writes them, no spaces.';
COMMENT ON FUNCTION q.enqueue(pg_catalog.text,pg_catalog.jsonb,pg_catalog.text,interval,integer,pg_catalog.text,pg_catalog.text,interval,interval,integer,pg_catalog.text,pg_catalog.text,interval,pg_catalog.text,interval,interval) IS 'Enqueues a run of a task with the options that replicas have published, as part of the caller''s transaction. Until a replica has published the task, the run waits at the gate task. duplicate: no run was added, because a run has the unique key or the throttle window, or because a waiting debounced run was updated.';
COMMENT ON FUNCTION q.guard_change() IS 'Rejects a change of a run that the state table does not allow.';
COMMENT ON FUNCTION q.is_keyed_by_result(bigint,pg_catalog.text) IS 'Whether the value at the pointer is the result of another step, which the payload does not contain.';
COMMENT ON FUNCTION q.join_debounced(q.task_run,pg_catalog.record) IS 'Whether another run with the debounce key replaces this one: an earlier run that was waiting when this one was enqueued and takes over its options, or a later run.';
COMMENT ON FUNCTION q.js_double(numeric) IS 'The number that JavaScript reads from a JSON number.';
COMMENT ON FUNCTION q.json_depth(pg_catalog.jsonb) IS 'Nesting depth of arrays and objects.';
COMMENT ON FUNCTION q.key_at(pg_catalog.jsonb,pg_catalog.text) IS 'The key at a pointer of a payload, like keyAt of @q/task. Strings keep their text; other JSON types begin with json:.';
COMMENT ON FUNCTION q.lane_of(pg_catalog.text,pg_catalog.text,pg_catalog.text[]) IS 'The number of a lane, which is added if it is new. Lanes of published tasks exist already; a new lane is added in the caller''s transaction, and other callers that need it wait for the commit.';
COMMENT ON FUNCTION q.member_order(pg_catalog.text) IS 'Sort key of an object''s members in canonical JSON: numbers first, by value, then by UTF-16 code units.';
COMMENT ON FUNCTION q.name_problem(pg_catalog.text,pg_catalog.text,integer) IS 'The problem with a name or key, or null; like checkName of @q/schema.';
COMMENT ON FUNCTION q.open_published(pg_catalog.text[],integer) IS 'Opens the gate task for runs of these tasks, as far as they are published. fate: opened, waits, duplicate or keyed-by-result (the caller ends the last two). key: the concurrency key for which the run now waits. lane: where the run can be claimed. due: in how many ms.';
COMMENT ON FUNCTION q.open_run(q.task_run,q.task) IS 'Gives a run the options of its task as if the task had been published at the enqueue, and moves it past the gate task. Raises unique_violation if another run has its unique key.';
COMMENT ON FUNCTION q.pattern_refuses(pg_catalog.text,pg_catalog.text) IS 'Whether the text certainly does not match a JavaScript pattern. False if that is not certain.';
COMMENT ON FUNCTION q.payload_problem(pg_catalog.jsonb) IS 'Why the payload cannot be stored (too large, too deep, or not readable by JavaScript), or null.';
COMMENT ON FUNCTION q.schema_problem(pg_catalog.jsonb,pg_catalog.jsonb,pg_catalog.jsonb,pg_catalog.text,integer) IS 'How a value certainly violates a JSON Schema, or null. The replica checks the keywords that this function does not know.';
COMMENT ON FUNCTION q.settings_of(q.task,pg_catalog.jsonb,pg_catalog.jsonb) IS 'The options of a run of a published task beyond those of its enqueue, like runSettings of @q/task. Used by q.enqueue() and the gate task.';
COMMENT ON FUNCTION q.utf16_length(pg_catalog.text) IS 'Length in UTF-16 code units, as JavaScript counts.';
COMMENT ON FUNCTION q.wake_text(pg_catalog.text,pg_catalog.text[]) IS 'Payload of q_available: the queue, and the capabilities that a replica must have to serve the run.';
