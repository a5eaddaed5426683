-- The gate `task`: a run of a task that no replica has published waits there, and gets the options of the task when a replica
-- publishes it. And keys by JSON type: {"id": 1} and {"id": "1"} are two keys.

-- ------------------------------------------------------------------------------------------------ compatibility
-- An older program would compute other keys for the same payload, so two runs of one key could run at once; and it would
-- make a step claimable before its task is published.
UPDATE q.compatibility SET oldest_program = greatest(oldest_program, 8);

-- ------------------------------------------------------------------------------------------------ the gate
ALTER TABLE q.task_run ADD COLUMN asked jsonb;
COMMENT ON COLUMN q.task_run.asked IS 'Not null while its task is not published: the options of its enqueue (queue, priority, max_attempts; own_law: it had a unique key, throttle or debounce of its own). The published task provides the rest.';
ALTER TABLE q.task_run DROP CONSTRAINT waits_for_a_gate;
ALTER TABLE q.task_run ADD CONSTRAINT waits_for_a_gate CHECK (
  waiting_for IN ('parents', 'workflow', 'task', 'time', 'concurrency') AND (waiting_for <> 'task' OR asked IS NOT NULL));
COMMENT ON COLUMN q.task_run.waiting_for IS 'The gate a PENDING run is at: parents, workflow (it is paused), task (no replica has published it), time, concurrency (passed in this order).';
COMMENT ON COLUMN q.task_run.lane IS 'q.lane.id: which queue, task and required capabilities; 0: no replica can claim it (its task is not published, or it is a map or workflow step). Not a foreign key: the check would be paid by every enqueue.';
CREATE INDEX task_run_unpublished ON q.task_run (task, id) WHERE asked IS NOT NULL AND finished_at IS NULL;

-- ------------------------------------------------------------------------------------------------ keys
-- The old function keeps another name until the end of this migration, to recognise the keys that it made.
ALTER FUNCTION q.key_at(jsonb, text) RENAME TO key_before;

CREATE FUNCTION q.key_at(payload jsonb, pointer text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  found jsonb := q.json_at(payload, pointer);
  is_text boolean := jsonb_typeof(found) = 'string';
  written text;
BEGIN
  IF found IS NULL OR jsonb_typeof(found) = 'null' THEN
    RETURN NULL;
  END IF;
  written := CASE WHEN is_text THEN found #>> '{}' ELSE q.canonical_json(found) END;
  -- The key of a text that begins like the key of another type is its hash.
  IF written <> '' AND q.utf16_length(written) <= 200 AND written !~ '[\u0001-\u001f\u007f-\u009f]' AND NOT (is_text AND written LIKE 'json:%') THEN
    RETURN CASE WHEN is_text THEN written ELSE 'json:' || written END;
  END IF;
  RETURN CASE WHEN is_text THEN 'sha256:' ELSE 'json:sha256:' END
    || translate(rtrim(encode(sha256(convert_to(written, 'UTF8')), 'base64'), '='), '+/', '-_');
END $$;
COMMENT ON FUNCTION q.key_at IS 'The key of a payload: keyAt of @q/task. Strings keep their text; other JSON types begin with json:.';

CREATE FUNCTION q.key_since(stored text, prefix text, payload jsonb, pointer text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN stored = prefix || q.key_before(payload, pointer) THEN prefix || q.key_at(payload, pointer) ELSE stored END
$$;

-- Successes keep their keys: there are many, and only a retry would need the new one. Texts that begin with json: are
-- rewritten first. A key that another run has by then, because its caller wrote json:1 itself, stays as it is.
DO $$
DECLARE
  of_text boolean;
BEGIN
  FOREACH of_text IN ARRAY ARRAY[true, false] LOOP
    UPDATE q.task_run r SET unique_key = since.key
    FROM (SELECT k.id, q.key_since(k.unique_key, '', k.payload, t.options #>> '{unique,key}') AS key
      FROM q.task_run k JOIN q.task t ON t.name = k.task WHERE k.status <> 'SUCCEEDED' AND k.unique_key IS NOT NULL) since
    WHERE r.id = since.id AND r.unique_key <> since.key AND since.key !~ '^json:' = of_text
      AND (r.finished_at IS NOT NULL OR NOT EXISTS (SELECT FROM q.task_run other WHERE other.task = r.task AND other.unique_live = since.key));
    UPDATE q.task_run r SET concurrency_key = since.key
    FROM (SELECT k.id, q.key_since(k.concurrency_key, k.concurrency_scope || chr(31), k.payload, t.options #>> '{concurrency,key}') AS key
      FROM q.task_run k JOIN q.task t ON t.name = k.task WHERE k.status <> 'SUCCEEDED' AND k.concurrency_key IS NOT NULL) since
    WHERE r.id = since.id AND r.concurrency_key <> since.key AND since.key !~ '\u001fjson:' = of_text
      AND (r.concurrency_slot IS NULL OR NOT EXISTS (
        SELECT FROM q.task_run other WHERE other.concurrency_key = since.key AND other.concurrency_slot = r.concurrency_slot));
    UPDATE q.unique_period p SET unique_key = since.key
    FROM (SELECT k.task, k.unique_key, q.key_since(q.key_since(k.unique_key, '', r.payload, t.options #>> '{unique,key}'),
        'throttle' || chr(31), r.payload, t.options #>> '{throttle,key}') AS key
      FROM q.unique_period k JOIN q.task_run r ON r.id = k.run_id JOIN q.task t ON t.name = k.task) since
    WHERE p.task = since.task AND p.unique_key = since.unique_key AND p.unique_key <> since.key
      AND since.key !~ '^(throttle\u001f)?json:' = of_text
      AND NOT EXISTS (SELECT FROM q.unique_period other WHERE other.task = p.task AND other.unique_key = since.key);
    UPDATE q.debounce d SET debounce_key = since.key
    FROM (SELECT k.task, k.debounce_key, q.key_since(k.debounce_key, '', r.payload, t.options #>> '{debounce,key}') AS key
      FROM q.debounce k JOIN q.task_run r ON r.id = k.run_id JOIN q.task t ON t.name = k.task) since
    WHERE d.task = since.task AND d.debounce_key = since.debounce_key AND d.debounce_key <> since.key
      AND since.key !~ '^json:' = of_text
      AND NOT EXISTS (SELECT FROM q.debounce other WHERE other.task = d.task AND other.debounce_key = since.key);
  END LOOP;
END $$;
DROP FUNCTION q.key_since(text, text, jsonb, text);
DROP FUNCTION q.key_before(jsonb, text);

-- ------------------------------------------------------------------------------------------------ options of a task
CREATE FUNCTION q.settings_of(published q.task, payload jsonb, asked jsonb,
  OUT queue text, OUT requires text[], OUT priority integer, OUT max_attempts integer, OUT on_crash q.on_crash,
  OUT concurrency_scope text, OUT concurrency_key text, OUT unique_key text, OUT throttle_key text, OUT debounce_key text,
  OUT period interval, OUT wait interval, OUT wait_max interval, OUT deadline interval)
LANGUAGE plpgsql IMMUTABLE AS $$
#variable_conflict use_variable
DECLARE
  options jsonb := coalesce(published.options, '{}');
BEGIN
  queue := coalesce(asked ->> 'queue', published.queue, 'default');
  requires := ARRAY(SELECT jsonb_array_elements_text(CASE WHEN jsonb_typeof(options -> 'requires') = 'array' THEN options -> 'requires' ELSE '[]' END));
  priority := coalesce((asked ->> 'priority')::integer, (options ->> 'priority')::integer, 0);
  max_attempts := coalesce((asked ->> 'max_attempts')::integer, (options #>> '{retry,attempts}')::integer, 1);
  on_crash := options ->> 'onCrash';
  deadline := (options ->> 'expiresMs')::double precision * interval '1 ms';
  concurrency_key := q.key_at(payload, options #>> '{concurrency,key}');
  IF concurrency_key IS NOT NULL THEN
    concurrency_scope := coalesce(options #>> '{concurrency,shared}', published.name);
    concurrency_key := concurrency_scope || chr(31) || concurrency_key;
  END IF;

  -- One law applies: the call's, else the task's. A payload without the value has no key.
  IF asked ? 'own_law' THEN
    RETURN;
  END IF;
  unique_key := q.key_at(payload, options #>> '{unique,key}');
  throttle_key := q.key_at(payload, options #>> '{throttle,key}');
  debounce_key := q.key_at(payload, options #>> '{debounce,key}');
  period := CASE WHEN unique_key IS NOT NULL THEN options #>> '{unique,forMs}' WHEN throttle_key IS NOT NULL THEN options #>> '{throttle,forMs}' END
    ::double precision * interval '1 ms';
  IF debounce_key IS NOT NULL THEN
    wait := (options #>> '{debounce,forMs}')::double precision * interval '1 ms';
    wait_max := coalesce((options #>> '{debounce,maxMs}')::double precision * interval '1 ms', 10 * wait);
  END IF;
END $$;
COMMENT ON FUNCTION q.settings_of IS 'What one run of a published task gets beside the options of its enqueue: runSettings of @q/task. For q.enqueue() and the gate.';

-- ------------------------------------------------------------------------------------------------ enqueue
CREATE OR REPLACE FUNCTION q.enqueue(
  task text, payload jsonb DEFAULT '{}', queue text DEFAULT NULL, delay interval DEFAULT NULL, priority integer DEFAULT NULL,
  run_group text DEFAULT NULL, unique_key text DEFAULT NULL, unique_for interval DEFAULT NULL, expires_in interval DEFAULT NULL,
  max_attempts integer DEFAULT NULL, trace text DEFAULT NULL, throttle_key text DEFAULT NULL, throttle_for interval DEFAULT NULL,
  debounce_key text DEFAULT NULL, debounce_for interval DEFAULT NULL, debounce_max interval DEFAULT NULL,
  OUT id bigint, OUT status q.task_status, OUT duplicate boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  longest interval := interval '100 years';
  published q.task;
  -- what this call says itself, which goes before what the task says
  own_asked jsonb := jsonb_strip_nulls(jsonb_build_object('queue', enqueue.queue, 'priority', enqueue.priority,
    'max_attempts', enqueue.max_attempts, 'own_law', CASE
      WHEN num_nonnulls(unique_key, unique_for, throttle_key, throttle_for, debounce_key, debounce_for, debounce_max) > 0 THEN true END));
  of_task record;
  is_published boolean;
  own_lane integer;
  own_key text := unique_key;
  throttled_by text := throttle_key;
  debounced_by text := debounce_key;
  -- that no second run is made for so long: of a unique key or a throttle
  own_period interval := coalesce(unique_for, throttle_for);
  own_wait interval := coalesce(debounce_for, delay);
  own_max interval := debounce_max;
  own_deadline interval;
  -- among the keys that count for a time: those of throttles begin with what no name contains
  taken_key text;
  gate text;
  problems text[];
  problem text;
BEGIN
  SELECT t.* INTO published FROM q.task t WHERE t.name = enqueue.task;
  is_published := FOUND;

  problem := q.payload_problem(payload);
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION 'the payload cannot be stored; nothing was enqueued'
      USING ERRCODE = 'QE003', DETAIL = problem, HINT = 'Pass JSON of at most 1 MiB and 64 levels; store what is larger elsewhere and pass where it is.';
  END IF;
  problem := q.schema_problem(published.payload_schema, payload, published.payload_schema);
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION 'the payload is not what the task % accepts; nothing was enqueued', enqueue.task
      USING ERRCODE = 'QE004', DETAIL = problem, HINT = 'SELECT payload_schema FROM q.task shows what it accepts.';
  END IF;

  of_task := q.settings_of(published, payload, own_asked);
  own_deadline := coalesce(expires_in, of_task.deadline);
  own_key := coalesce(own_key, of_task.unique_key);
  throttled_by := coalesce(throttled_by, of_task.throttle_key);
  debounced_by := coalesce(debounced_by, of_task.debounce_key);
  own_period := coalesce(own_period, of_task.period);
  own_max := coalesce(own_max, of_task.wait_max);
  own_wait := coalesce(of_task.wait, own_wait);
  IF debounced_by IS NOT NULL AND own_wait <= longest THEN
    own_max := coalesce(own_max, 10 * own_wait);
  END IF;

  problems := array_remove(ARRAY[
    q.name_problem('task', enqueue.task, 100),
    q.name_problem('queue', of_task.queue, 100),
    q.name_problem('group', coalesce(run_group, '-'), 200),
    q.name_problem('unique key', coalesce(own_key, '-'), 500),
    q.name_problem('throttle key', coalesce(throttled_by, '-'), 500),
    q.name_problem('debounce key', coalesce(debounced_by, '-'), 500),
    q.name_problem('concurrency scope', coalesce(of_task.concurrency_scope, '-'), 100)], NULL);
  IF cardinality(problems) > 0 THEN
    RAISE EXCEPTION 'a name or key cannot be used; nothing was enqueued'
      USING ERRCODE = 'QE001', DETAIL = array_to_string(problems, '; '), HINT = 'Use short printable text.';
  END IF;
  problems := array_remove(ARRAY[
    CASE WHEN priority NOT BETWEEN -32768 AND 32767 THEN 'priority is not from -32768 to 32767' END,
    CASE WHEN max_attempts NOT BETWEEN 1 AND 32767 THEN 'max_attempts is not from 1 to 32767' END,
    CASE WHEN delay NOT BETWEEN interval '0' AND longest THEN 'delay is not from 0 to 100 years' END,
    CASE WHEN own_deadline NOT BETWEEN interval '0' AND longest THEN 'expires_in is not from 0 to 100 years' END,
    CASE WHEN own_period NOT BETWEEN interval '1 ms' AND longest
      THEN format('%s is not from 1 ms to 100 years', CASE WHEN throttled_by IS NULL THEN 'unique_for' ELSE 'throttle_for' END) END,
    CASE WHEN unique_for IS NOT NULL AND own_key IS NULL THEN 'unique_for has no unique_key' END,
    CASE WHEN throttle_for IS NOT NULL AND throttled_by IS NULL THEN 'throttle_for has no throttle_key' END,
    CASE WHEN throttled_by IS NOT NULL AND own_period IS NULL THEN 'throttle_key has no throttle_for' END,
    CASE WHEN coalesce(debounce_for, debounce_max) IS NOT NULL AND debounced_by IS NULL THEN 'debounce_for has no debounce_key' END,
    CASE WHEN debounced_by IS NOT NULL THEN CASE
      WHEN delay IS NOT NULL THEN 'delay and debounce: the window is the delay'
      WHEN own_wait IS NULL THEN 'debounce_key has no debounce_for'
      WHEN own_wait NOT BETWEEN interval '1 ms' AND longest THEN 'debounce_for is not from 1 ms to 100 years'
      WHEN own_max NOT BETWEEN own_wait AND longest THEN 'debounce_max is not from debounce_for to 100 years' END END,
    CASE WHEN num_nonnulls(own_key, throttled_by, debounced_by) > 1 THEN 'unique_key, throttle_key and debounce_key: a run has one of them' END,
    CASE WHEN q.utf16_length(trace) > 1000 THEN 'trace has more than 1000 characters' END], NULL);
  IF cardinality(problems) > 0 THEN
    RAISE EXCEPTION 'an option of a run cannot be used; nothing was enqueued'
      USING ERRCODE = 'QE002', DETAIL = array_to_string(problems, '; '), HINT = 'Correct it, or leave it out.';
  END IF;

  -- A run of a task that is not published waits in lane 0, which no claim reads.
  own_lane := CASE WHEN is_published THEN q.lane_of(of_task.queue, enqueue.task, of_task.requires) ELSE 0 END;
  gate := CASE WHEN NOT is_published THEN 'task' WHEN own_wait > interval '0' THEN 'time'
    WHEN of_task.concurrency_key IS NOT NULL THEN 'concurrency' END;
  taken_key := coalesce(own_key, 'throttle' || chr(31) || throttled_by);

  -- The lock on the key's row decides which enqueue is the last. Only a statement after the lock sees what the previous
  -- enqueue wrote. A run whose time has come no longer changes.
  IF debounced_by IS NOT NULL THEN
    INSERT INTO q.debounce AS d (task, debounce_key, run_id) VALUES (enqueue.task, debounced_by, 0)
    ON CONFLICT (task, debounce_key) DO UPDATE SET run_id = d.run_id;
    UPDATE q.task_run r SET
      lane = own_lane, priority = of_task.priority, grp = coalesce(run_group, ''), max_attempts = of_task.max_attempts,
      on_crash = of_task.on_crash, timeout_ms = NULL, max_silent_ms = NULL, concurrency_scope = of_task.concurrency_scope,
      concurrency_key = of_task.concurrency_key, trace = enqueue.trace, payload = enqueue.payload,
      waiting_for = gate, asked = CASE WHEN NOT is_published THEN own_asked END,
      run_at = least(clock_timestamp() + own_wait, r.created_at + own_max), expires_at = clock_timestamp() + own_deadline,
      updated_at = clock_timestamp()
    FROM q.debounce d
    WHERE d.task = enqueue.task AND d.debounce_key = debounced_by AND r.id = d.run_id AND r.fence = 0
      AND r.status = 'PENDING' AND r.waiting_for IN ('task', 'time') AND r.run_at > clock_timestamp()
    RETURNING r.id, r.status, true INTO enqueue.id, enqueue.status, enqueue.duplicate;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;

  -- Between a refused duplicate and the look for it the other run may have ended: then insert again.
  FOR tries IN 1..5 LOOP
    INSERT INTO q.task_run AS made (task, lane, priority, grp, max_attempts, on_crash, run_at, expires_at, status, waiting_for,
      unique_key, concurrency_scope, concurrency_key, trace, asked, payload)
    SELECT enqueue.task, own_lane, of_task.priority, coalesce(run_group, ''), of_task.max_attempts, of_task.on_crash,
      clock_timestamp() + coalesce(own_wait, '0'), clock_timestamp() + own_deadline,
      CASE WHEN gate IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status, gate,
      own_key, of_task.concurrency_scope, of_task.concurrency_key, enqueue.trace,
      CASE WHEN NOT is_published THEN own_asked END, enqueue.payload
    WHERE taken_key IS NULL OR NOT EXISTS (
      SELECT FROM q.unique_period period JOIN q.task_run holder ON holder.id = period.run_id
      WHERE period.task = enqueue.task AND period.unique_key = taken_key AND period.until > clock_timestamp())
    ON CONFLICT (task, unique_live) WHERE unique_live IS NOT NULL DO NOTHING
    RETURNING made.id, made.status, false INTO enqueue.id, enqueue.status, enqueue.duplicate;

    IF FOUND AND debounced_by IS NOT NULL THEN
      UPDATE q.debounce d SET run_id = enqueue.id WHERE d.task = enqueue.task AND d.debounce_key = debounced_by;
      RETURN;
    ELSIF FOUND AND own_period IS NULL THEN
      RETURN;
    ELSIF FOUND THEN
      INSERT INTO q.unique_period AS period (task, unique_key, run_id, until)
      VALUES (enqueue.task, taken_key, enqueue.id, clock_timestamp() + own_period)
      ON CONFLICT (task, unique_key) DO UPDATE SET run_id = excluded.run_id, until = excluded.until
      WHERE period.until <= clock_timestamp();
      IF FOUND THEN
        RETURN;
      END IF;
      -- Another enqueue took the key in the meantime, or the run that had it was deleted: only a statement after the one
      -- that waited can tell which.
      DELETE FROM q.task_run r WHERE r.id = enqueue.id;
      DELETE FROM q.unique_period period WHERE period.task = enqueue.task AND period.unique_key = taken_key
        AND NOT EXISTS (SELECT FROM q.task_run holder WHERE holder.id = period.run_id);
    END IF;

    SELECT r.id, r.status, true INTO enqueue.id, enqueue.status, enqueue.duplicate
    FROM q.task_run r WHERE r.id = coalesce(
      (SELECT holder.id FROM q.unique_period period JOIN q.task_run holder ON holder.id = period.run_id
        WHERE period.task = enqueue.task AND period.unique_key = taken_key AND period.until > clock_timestamp()),
      (SELECT live.id FROM q.task_run live WHERE live.task = enqueue.task AND live.unique_live = own_key));
    IF FOUND THEN
      RETURN;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'the unique key of a run of % was taken and freed 5 times in a row', enqueue.task
    USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
END $$;
COMMENT ON FUNCTION q.enqueue IS 'A run of a task, by what replicas have published about it; part of the caller''s transaction. While no replica has published the task, the run waits at the gate task. duplicate: the run existed already: its unique key or its window was taken, or a debounced run that waits has become what this call asked for.';

-- ------------------------------------------------------------------------------------------------ opening the gate
CREATE FUNCTION q.is_keyed_by_result(step bigint, pointer text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM q.workflow_step s, jsonb_object_keys(s.inputs) AS place
    WHERE s.run_id = step AND (starts_with(place || '/', pointer || '/') OR starts_with(pointer || '/', place || '/')))
$$;
COMMENT ON FUNCTION q.is_keyed_by_result IS 'Whether the value at the pointer is the result of another step, which the payload does not hold.';

CREATE FUNCTION q.join_debounced(run q.task_run, of_task record) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO q.debounce AS d (task, debounce_key, run_id) VALUES (run.task, of_task.debounce_key, 0)
  ON CONFLICT (task, debounce_key) DO UPDATE SET run_id = d.run_id;
  UPDATE q.task_run r SET
    lane = q.lane_of(of_task.queue, run.task, of_task.requires), priority = of_task.priority, grp = run.grp,
    max_attempts = of_task.max_attempts, on_crash = coalesce(run.on_crash, of_task.on_crash), timeout_ms = run.timeout_ms,
    max_silent_ms = run.max_silent_ms, concurrency_scope = of_task.concurrency_scope, concurrency_key = of_task.concurrency_key,
    trace = run.trace, payload = run.payload, run_at = least(run.created_at + of_task.wait, r.created_at + of_task.wait_max),
    expires_at = coalesce(run.expires_at, run.created_at + of_task.deadline), updated_at = clock_timestamp()
  FROM q.debounce d
  WHERE d.task = run.task AND d.debounce_key = of_task.debounce_key AND r.id = d.run_id AND r.id < run.id AND r.fence = 0
    AND r.status = 'PENDING' AND r.waiting_for = 'time' AND r.run_at > run.created_at;
  IF NOT FOUND THEN
    UPDATE q.debounce d SET run_id = run.id WHERE d.task = run.task AND d.debounce_key = of_task.debounce_key AND d.run_id < run.id;
  END IF;
  RETURN NOT EXISTS (SELECT FROM q.debounce d WHERE d.task = run.task AND d.debounce_key = of_task.debounce_key AND d.run_id = run.id);
END $$;
COMMENT ON FUNCTION q.join_debounced IS 'Whether another run of the debounce key counts: an earlier one that waited when this one was enqueued and becomes what this one asked for, or a later one.';

CREATE FUNCTION q.open_run(run q.task_run, published q.task, OUT fate text, OUT key text, OUT lane integer, OUT due double precision)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  is_step boolean := run.workflow_id IS NOT NULL;
  of_task record;
  own_run_at timestamptz;
  gate text;
BEGIN
  fate := 'opened';
  -- Unique keys, windows and deadlines of a task do not apply to the steps of a workflow.
  of_task := q.settings_of(published, run.payload, CASE WHEN is_step THEN run.asked || '{"own_law": true}' ELSE run.asked END);
  own_run_at := coalesce(run.created_at + of_task.wait, run.run_at);
  gate := CASE WHEN run.waiting_for <> 'task' THEN run.waiting_for
    WHEN of_task.debounce_key IS NOT NULL OR own_run_at > clock_timestamp() THEN 'time'
    WHEN coalesce(run.concurrency_key, of_task.concurrency_key) IS NOT NULL THEN 'concurrency' END;
  IF is_step AND q.is_keyed_by_result(run.id, published.options #>> '{concurrency,key}') THEN
    fate := 'keyed-by-result';
    RETURN;
  END IF;
  IF of_task.debounce_key IS NOT NULL THEN
    IF q.join_debounced(run, of_task) THEN
      fate := 'duplicate';
      RETURN;
    END IF;
  END IF;

  UPDATE q.task_run r SET
    lane = q.lane_of(of_task.queue, run.task, of_task.requires), priority = of_task.priority, max_attempts = of_task.max_attempts,
    on_crash = coalesce(r.on_crash, of_task.on_crash), unique_key = coalesce(r.unique_key, of_task.unique_key),
    concurrency_scope = coalesce(r.concurrency_scope, of_task.concurrency_scope),
    concurrency_key = coalesce(r.concurrency_key, of_task.concurrency_key),
    expires_at = CASE WHEN is_step OR r.epoch > 1 THEN r.expires_at ELSE coalesce(r.expires_at, r.created_at + of_task.deadline) END,
    run_at = own_run_at, asked = NULL, waiting_for = gate,
    status = CASE WHEN gate IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status, updated_at = clock_timestamp()
  WHERE r.id = run.id
  RETURNING CASE WHEN gate = 'concurrency' THEN r.concurrency_key END, CASE WHEN gate IS NULL THEN r.lane END,
    extract(epoch FROM r.due_at - clock_timestamp()) * 1000
  INTO open_run.key, open_run.lane, open_run.due;
  IF of_task.period IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO q.unique_period AS p (task, unique_key, run_id, until)
  VALUES (run.task, coalesce(of_task.unique_key, 'throttle' || chr(31) || of_task.throttle_key), run.id, run.created_at + of_task.period)
  ON CONFLICT (task, unique_key) DO UPDATE SET run_id = excluded.run_id, until = excluded.until
  WHERE p.until <= run.created_at OR NOT EXISTS (SELECT FROM q.task_run holder WHERE holder.id = p.run_id);
  IF NOT FOUND THEN
    RAISE unique_violation;
  END IF;
END $$;
COMMENT ON FUNCTION q.open_run IS 'Makes a run what it would be if its task had been published when it was enqueued, and moves it past the gate task. Raises unique_violation if another run has its unique key.';

CREATE FUNCTION q.open_published(tasks text[], runs_max integer,
  OUT run_id bigint, OUT run_fence integer, OUT fate text, OUT key text, OUT lane integer, OUT due double precision)
RETURNS SETOF record LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  pair record;
BEGIN
  -- In the order of enqueue: of two runs with one unique key the earlier one counts. A run that is held (manual SQL may
  -- have done that) belongs to its holder, or to a reaper.
  FOR pair IN
    SELECT r AS run, t AS published FROM q.task t JOIN q.task_run r ON r.task = t.name AND r.asked IS NOT NULL AND r.finished_at IS NULL
    WHERE t.name = ANY (open_published.tasks) AND r.status IN ('PENDING', 'AVAILABLE') ORDER BY r.id LIMIT runs_max FOR NO KEY UPDATE OF r SKIP LOCKED
  LOOP
    run_id := (pair.run).id;
    run_fence := (pair.run).fence;
    key := NULL;
    lane := NULL;
    due := NULL;
    BEGIN
      SELECT o.fate, o.key, o.lane, o.due INTO fate, key, lane, due FROM q.open_run(pair.run, pair.published) AS o;
    EXCEPTION
      WHEN unique_violation THEN fate := 'duplicate';
      -- Another transaction has the key, and may be rolled back: a later call decides.
      WHEN lock_not_available THEN fate := 'waits';
    END;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION q.open_published IS 'Opens the gate task for runs of these tasks, as far as they are published. fate: opened; duplicate and keyed-by-result (the caller ends the run); waits. key: the run waits for it now; lane: the run can be claimed there; due: in so many ms.';

-- ------------------------------------------------------------------------------------------------ waiting runs
-- A run with a concurrency key or requirements came from a producer that had the definition, and stays as it is.
UPDATE q.task_run r SET status = 'PENDING', lane = 0,
  waiting_for = CASE WHEN r.waiting_for IN ('parents', 'workflow') THEN r.waiting_for ELSE 'task' END,
  asked = jsonb_strip_nulls(jsonb_build_object('queue', nullif(l.queue, 'default'), 'priority', nullif(r.priority, 0),
    'max_attempts', nullif(r.max_attempts, 1), 'own_law', CASE WHEN r.unique_key IS NOT NULL
      OR EXISTS (SELECT FROM q.unique_period p WHERE p.run_id = r.id) OR EXISTS (SELECT FROM q.debounce d WHERE d.run_id = r.id) THEN true END))
FROM q.lane l
WHERE l.id = r.lane AND l.requires = '{}' AND r.concurrency_key IS NULL AND r.status IN ('PENDING', 'AVAILABLE') AND r.fence = 0
  AND NOT EXISTS (SELECT FROM q.task t WHERE t.name = r.task);
-- Steps that live workflows make later: lane 0 means that the task was not published.
UPDATE q.workflow w SET definition = jsonb_set(w.definition, '{tasks}', (
  SELECT jsonb_object_agg(o.key, CASE WHEN o.value - 'lane' = '{}' AND NOT EXISTS (SELECT FROM q.task t WHERE t.name = o.key)
    THEN '{"lane": 0}' ELSE o.value END) FROM jsonb_each(w.definition -> 'tasks') AS o))
WHERE w.finished_at IS NULL AND EXISTS (SELECT FROM jsonb_object_keys(w.definition -> 'tasks') AS o(key)
  WHERE NOT EXISTS (SELECT FROM q.task t WHERE t.name = o.key));
