-- q.enqueue(): for psql, triggers and programs in any language. It goes by what replicas have published (q.task), as the
-- clients in TypeScript do. Where both do the same thing, @q/task and @q/store are the truth and the tests hold this file
-- against them (docs/decisions/0011). Nothing here is new data: it is functions alone.

COMMENT ON COLUMN q.task.options IS 'The task''s options as data, as optionData of @q/task names them. Of them q.enqueue() reads priority, requires, onCrash, retry, concurrency, unique, throttle, debounce and expiresMs; the others are for replicas.';

-- ------------------------------------------------------------------------------------------------ text and numbers
CREATE FUNCTION q.utf16_length(given text) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF octet_length(given) = char_length(given) THEN
    RETURN char_length(given);
  END IF;
  RETURN (SELECT coalesce(sum(CASE WHEN ascii(letter) > 65535 THEN 2 ELSE 1 END), 0)
    FROM unnest(string_to_array(given, NULL)) AS letter);
END $$;
COMMENT ON FUNCTION q.utf16_length IS 'Length as JavaScript counts it.';

CREATE FUNCTION q.js_double(given numeric) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  -- Below half of the smallest double, and from half a step above the largest one.
  IF abs(given) < 2.470328229206232720e-324 THEN
    RETURN 0;
  ELSIF abs(given) >= 2 ^ 1024::numeric - 2 ^ 970::numeric THEN
    RETURN sign(given) * 'Infinity'::double precision;
  END IF;
  RETURN given::double precision;
END $$;
COMMENT ON FUNCTION q.js_double IS 'What JavaScript reads a number of JSON as.';

CREATE FUNCTION q.js_number(given numeric) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
SET extra_float_digits = 1 AS $$
DECLARE
  double double precision;
  sign text := CASE WHEN given < 0 THEN '-' ELSE '' END;
  written text;
  digits text;
  shorter text;
  kept integer;
  -- where the point is, counted from the first digit: the number is 0.digits times ten to the power of it
  point integer;
BEGIN
  IF given = trunc(given) AND abs(given) < 1e15 THEN
    RETURN trunc(given)::text;
  END IF;
  double := abs(q.js_double(given));
  IF double = 0 OR double = 'Infinity' THEN
    RETURN CASE WHEN double = 0 THEN '0' ELSE 'null' END;
  END IF;
  written := double::text;
  digits := replace(split_part(written, 'e', 1), '.', '');
  point := length(split_part(split_part(written, 'e', 1), '.', 1))
    + coalesce(nullif(split_part(written, 'e', 2), ''), '0')::integer - (length(digits) - length(ltrim(digits, '0')));
  digits := rtrim(ltrim(digits, '0'), '0');
  -- PostgreSQL never writes a number that lies exactly between two doubles, JavaScript does where that is shorter.
  WHILE length(digits) > 1 LOOP
    kept := length(digits) - 1;
    shorter := NULL;
    SELECT candidate::text INTO shorter
    FROM unnest(ARRAY[left(digits, kept)::numeric, left(digits, kept)::numeric + 1]) AS candidate
    WHERE q.js_double((candidate::text || 'e' || (point - kept))::numeric) = double
    LIMIT 1;
    EXIT WHEN shorter IS NULL;
    point := point + length(shorter) - kept;
    digits := rtrim(shorter, '0');
  END LOOP;
  kept := length(digits);
  RETURN sign || CASE
    WHEN point BETWEEN kept AND 21 THEN digits || repeat('0', point - kept)
    WHEN point BETWEEN 1 AND 21 THEN left(digits, point) || '.' || substr(digits, point + 1)
    WHEN point BETWEEN -5 AND 0 THEN '0.' || repeat('0', -point) || digits
    ELSE left(digits, 1) || CASE WHEN kept > 1 THEN '.' || substr(digits, 2) ELSE '' END
      || 'e' || CASE WHEN point > 0 THEN '+' ELSE '-' END || abs(point - 1)
  END;
END $$;
COMMENT ON FUNCTION q.js_number IS 'A number as JavaScript writes it.';

-- ------------------------------------------------------------------------------------------------ keys
CREATE FUNCTION q.member_order(key text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF key ~ '^(0|[1-9][0-9]{0,9})$' THEN
    IF key::bigint < 4294967295 THEN
      RETURN ARRAY[-1, key::bigint];
    END IF;
  END IF;
  RETURN 0::bigint || ARRAY(
    SELECT unit FROM unnest(string_to_array(key, NULL)) WITH ORDINALITY AS l(letter, place), ascii(letter) AS code,
      unnest(CASE WHEN code > 65535 THEN ARRAY[55296 + (code - 65536) / 1024, 56320 + (code - 65536) % 1024] ELSE ARRAY[code] END)
        WITH ORDINALITY AS u(unit, half)
    ORDER BY place, half)::bigint[];
END $$;
COMMENT ON FUNCTION q.member_order IS 'The order of an object''s members in canonical JSON: numbers first, by value, then by UTF-16 code units.';

CREATE FUNCTION q.canonical_json(given jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN CASE jsonb_typeof(given)
    WHEN 'number' THEN q.js_number((given #>> '{}')::numeric)
    WHEN 'array' THEN '[' || coalesce((
      SELECT string_agg(q.canonical_json(item), ',' ORDER BY place)
      FROM jsonb_array_elements(given) WITH ORDINALITY AS a(item, place)), '') || ']'
    WHEN 'object' THEN '{' || coalesce((
      SELECT string_agg(to_jsonb(key)::text || ':' || q.canonical_json(member), ',' ORDER BY q.member_order(key))
      FROM jsonb_each(given) AS o(key, member)), '') || '}'
    ELSE given::text
  END;
END $$;
COMMENT ON FUNCTION q.canonical_json IS 'Equal values have equal text: members in one order, numbers as JavaScript writes them, no spaces.';

CREATE FUNCTION q.json_at(given jsonb, pointer text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  found jsonb := given;
  part text;
BEGIN
  FOREACH part IN ARRAY (string_to_array(pointer, '/'))[2:] LOOP
    part := replace(replace(part, '~1', '/'), '~0', '~');
    found := CASE jsonb_typeof(found)
      WHEN 'object' THEN found -> part
      WHEN 'array' THEN CASE WHEN part ~ '^(0|[1-9][0-9]{0,8})$' THEN found -> part::integer END
    END;
  END LOOP;
  RETURN found;
END $$;
COMMENT ON FUNCTION q.json_at IS 'The value at a JSON pointer (RFC 6901), or null.';

CREATE FUNCTION q.key_at(payload jsonb, pointer text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  found jsonb := q.json_at(payload, pointer);
  key text;
BEGIN
  IF found IS NULL OR jsonb_typeof(found) = 'null' THEN
    RETURN NULL;
  END IF;
  key := CASE jsonb_typeof(found) WHEN 'string' THEN found #>> '{}' ELSE q.canonical_json(found) END;
  IF key <> '' AND q.utf16_length(key) <= 200 AND key !~ '[\u0001-\u001f\u007f-\u009f]' THEN
    RETURN key;
  END IF;
  RETURN 'sha256:' || translate(rtrim(encode(sha256(convert_to(key, 'UTF8')), 'base64'), '='), '+/', '-_');
END $$;
COMMENT ON FUNCTION q.key_at IS 'The key of a payload: keyAt of @q/task.';

-- ------------------------------------------------------------------------------------------------ JSON Schema
CREATE FUNCTION q.pattern_refuses(pattern text, given text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  -- Only what both dialects of regular expressions read alike, on text in which their classes do not differ.
  IF given !~ '^[ -~]*$' OR pattern !~ '^[ -~]*$' OR pattern ~ '\\[0-9abcegh-mopquxyzA-CE-RT-Z]|\\S|\[\^?\]|\[[:.=]|\(\?[^:=!]|\{[0-9,]*[0-9]{3}|^\*' THEN
    RETURN false;
  END IF;
  RETURN given COLLATE "C" !~ pattern;
EXCEPTION WHEN invalid_regular_expression THEN
  RETURN false;
END $$;
COMMENT ON FUNCTION q.pattern_refuses IS 'Does the text certainly not match a pattern of JavaScript? Where that is not certain: false.';

CREATE FUNCTION q.schema_problem(schema jsonb, given jsonb, root jsonb, place text DEFAULT '', hops integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  at text := CASE place WHEN '' THEN 'the payload' ELSE left(place, 300) END;
  kind text := jsonb_typeof(given);
  known text[] := '{"null",boolean,object,array,number,integer,string}';
  types text[];
  double double precision;
  letters text;
  key text;
  member jsonb;
  branch jsonb;
  problem text;
  first_problem text;
BEGIN
  IF schema = 'false' THEN
    RETURN at || ' is not allowed';
  END IF;
  -- The same place looked at over and over: a schema that refers to itself.
  IF jsonb_typeof(schema) IS DISTINCT FROM 'object' OR hops > 16 THEN
    RETURN NULL;
  END IF;

  IF left(schema ->> '$ref', 1) = '#' AND schema ->> '$ref' !~ '%' THEN
    problem := q.schema_problem(q.json_at(root, substr(schema ->> '$ref', 2)), given, root, place, hops + 1);
    IF problem IS NOT NULL THEN
      RETURN problem;
    END IF;
  END IF;

  types := CASE jsonb_typeof(schema -> 'type') WHEN 'string' THEN ARRAY[schema ->> 'type']
    WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(schema -> 'type')) END;
  IF kind = 'number' THEN
    double := q.js_double((given #>> '{}')::numeric);
  END IF;
  IF types <@ known AND NOT kind = ANY (types) AND NOT (kind = 'number' AND 'integer' = ANY (types) AND double = trunc(double)) THEN
    RETURN format('%s is of type %s, not %s', at, CASE WHEN kind = 'number' AND 'integer' = ANY (types) THEN 'number with a fraction' ELSE kind END,
      array_to_string(types, ' or '));
  END IF;
  IF schema ? 'const' AND schema -> 'const' <> given THEN
    RETURN format('%s is not %s', at, left((schema -> 'const')::text, 100));
  END IF;
  IF jsonb_typeof(schema -> 'enum') = 'array'
    AND NOT EXISTS (SELECT FROM jsonb_array_elements(schema -> 'enum') AS e(allowed) WHERE allowed = given) THEN
    RETURN format('%s is none of %s', at, left((schema -> 'enum')::text, 200));
  END IF;

  IF kind = 'number' THEN
    FOR key, member IN SELECT o.key, o.value FROM jsonb_each(schema) AS o WHERE jsonb_typeof(o.value) = 'number' LOOP
      IF (CASE key
        WHEN 'minimum' THEN double < q.js_double((member #>> '{}')::numeric)
        WHEN 'maximum' THEN double > q.js_double((member #>> '{}')::numeric)
        WHEN 'exclusiveMinimum' THEN double <= q.js_double((member #>> '{}')::numeric)
        WHEN 'exclusiveMaximum' THEN double >= q.js_double((member #>> '{}')::numeric)
        -- of whole numbers; how fractions are divided is for the validator to say
        WHEN 'multipleOf' THEN CASE WHEN (member #>> '{}')::numeric >= 1 AND mod((member #>> '{}')::numeric, 1) = 0 AND abs(double) < 9007199254740992
          THEN mod((given #>> '{}')::numeric, (member #>> '{}')::numeric) <> 0 ELSE false END
        ELSE false
      END) THEN
        RETURN format('%s is not within %s %s', at, key, member);
      END IF;
    END LOOP;
  END IF;

  IF kind = 'string' THEN
    letters := given #>> '{}';
    -- Validators count letters or UTF-16 code units: refused is what neither accepts.
    IF q.utf16_length(letters) < (schema ->> 'minLength')::numeric THEN
      RETURN format('%s has fewer than %s characters', at, schema ->> 'minLength');
    END IF;
    IF char_length(letters) > (schema ->> 'maxLength')::numeric THEN
      RETURN format('%s has more than %s characters', at, schema ->> 'maxLength');
    END IF;
    IF jsonb_typeof(schema -> 'pattern') = 'string' AND q.pattern_refuses(schema ->> 'pattern', letters) THEN
      RETURN format('%s does not match %s', at, left(schema ->> 'pattern', 200));
    END IF;
  END IF;

  IF kind = 'array' THEN
    IF jsonb_array_length(given) < (schema ->> 'minItems')::numeric OR jsonb_array_length(given) > (schema ->> 'maxItems')::numeric THEN
      RETURN format('%s has %s items', at, jsonb_array_length(given));
    END IF;
    IF schema -> 'uniqueItems' = 'true'
      AND (SELECT count(DISTINCT item) FROM jsonb_array_elements(given) AS a(item)) < jsonb_array_length(given) THEN
      RETURN format('%s has equal items', at);
    END IF;
    FOR key, member IN SELECT (a.number - 1)::text, a.item FROM jsonb_array_elements(given) WITH ORDINALITY AS a(item, number) LOOP
      branch := coalesce(schema -> 'prefixItems' -> key::integer, schema -> 'items');
      IF jsonb_typeof(branch) = 'array' THEN
        branch := branch -> key::integer; -- a tuple, as older drafts write it
      END IF;
      problem := q.schema_problem(branch, member, root, place || '/' || key);
      IF problem IS NOT NULL THEN
        RETURN problem;
      END IF;
    END LOOP;
  END IF;

  IF kind = 'object' THEN
    IF jsonb_typeof(schema -> 'required') = 'array' THEN
      FOR key IN SELECT jsonb_array_elements_text(schema -> 'required') LOOP
        IF NOT given ? key THEN
          RETURN format('%s lacks %s', at, left(key, 100));
        END IF;
      END LOOP;
    END IF;
    FOR key, member IN SELECT o.key, o.value FROM jsonb_each(given) AS o LOOP
      branch := coalesce(schema -> 'properties' -> key, CASE WHEN NOT schema ? 'patternProperties' THEN schema -> 'additionalProperties' END);
      problem := q.schema_problem(branch, member, root, place || '/' || replace(replace(key, '~', '~0'), '/', '~1'));
      IF problem IS NOT NULL THEN
        RETURN problem;
      END IF;
    END LOOP;
  END IF;

  IF jsonb_typeof(schema -> 'allOf') = 'array' THEN
    FOR branch IN SELECT jsonb_array_elements(schema -> 'allOf') LOOP
      problem := q.schema_problem(branch, given, root, place, hops + 1);
      IF problem IS NOT NULL THEN
        RETURN problem;
      END IF;
    END LOOP;
  END IF;
  -- That it fits two of oneOf may only seem so, because of keywords that are not known here: it must fit one.
  FOREACH key IN ARRAY '{anyOf,oneOf}'::text[] LOOP
    CONTINUE WHEN jsonb_typeof(schema -> key) IS DISTINCT FROM 'array';
    first_problem := NULL;
    FOR branch IN SELECT jsonb_array_elements(schema -> key) LOOP
      problem := q.schema_problem(branch, given, root, place, hops + 1);
      EXIT WHEN problem IS NULL;
      first_problem := coalesce(first_problem, problem);
    END LOOP;
    IF problem IS NOT NULL AND first_problem IS NOT NULL THEN
      RETURN format('%s fits none of the forms it may have; for the first, %s', at, first_problem);
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.schema_problem IS 'What is certainly wrong with a value by a JSON Schema, or null. Keywords it does not know are left to the check before the run.';

-- ------------------------------------------------------------------------------------------------ enqueue
CREATE FUNCTION q.name_problem(kind text, name text, length_max integer) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE
    WHEN name IS NULL THEN format('the %s is null', kind)
    WHEN name = '' THEN format('the %s is empty', kind)
    WHEN q.utf16_length(name) > length_max THEN format('the %s has %s characters; at most %s are allowed', kind, q.utf16_length(name), length_max)
    WHEN name ~ '[\u0001-\u001f\u007f-\u009f]' THEN format('the %s contains a control character', kind)
  END;
END $$;
COMMENT ON FUNCTION q.name_problem IS 'What is wrong with a name or key: checkName of @q/schema.';

CREATE FUNCTION q.json_depth(given jsonb) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN CASE jsonb_typeof(given)
    WHEN 'array' THEN 1 + coalesce((SELECT max(q.json_depth(item)) FROM jsonb_array_elements(given) AS a(item)), 0)
    WHEN 'object' THEN 1 + coalesce((SELECT max(q.json_depth(member)) FROM jsonb_each(given) AS o(key, member)), 0)
    ELSE 0
  END;
END $$;
COMMENT ON FUNCTION q.json_depth IS 'Arrays and objects inside of each other.';

CREATE FUNCTION q.payload_problem(payload jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  written text := payload::text;
BEGIN
  IF payload IS NULL THEN
    RETURN 'it is SQL''s NULL; the JSON value is written ''null''';
  END IF;
  IF octet_length(written) > 1048576 THEN
    RETURN format('it has %s bytes as JSON; at most 1048576 are allowed', octet_length(written));
  END IF;
  -- More than 64 levels need as many brackets: few payloads have to be walked.
  IF length(written) - length(translate(written, '[{', '')) > 64 THEN
    IF q.json_depth(payload) > 64 THEN
      RETURN 'it is more than 64 levels deep';
    END IF;
  END IF;
  -- So does a number that JavaScript cannot hold need many digits.
  IF written ~ '[0-9]{155}[0-9]{154}' THEN
    IF EXISTS (SELECT FROM jsonb_path_query(payload, 'strict $.** ? (@.type() == "number")') AS n(number)
      WHERE abs(q.js_double((number #>> '{}')::numeric)) = 'Infinity') THEN
      RETURN 'it holds a number that is beyond the range of a double';
    END IF;
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION q.payload_problem IS 'What JavaScript could not read back, or is too much.';

CREATE FUNCTION q.lane_of(queue text, task text, requires text[]) RETURNS integer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  found integer;
BEGIN
  FOR tries IN 1..2 LOOP
    SELECT l.id INTO found FROM q.lane l
    WHERE l.queue = lane_of.queue AND l.task = lane_of.task AND l.requires = lane_of.requires;
    EXIT WHEN found IS NOT NULL;
    INSERT INTO q.lane (queue, task, requires) VALUES (lane_of.queue, lane_of.task, lane_of.requires)
    ON CONFLICT DO NOTHING RETURNING id INTO found;
    EXIT WHEN found IS NOT NULL;
  END LOOP;
  RETURN found;
END $$;
COMMENT ON FUNCTION q.lane_of IS 'The lane''s number; made if it is new. Lanes of published tasks are there already; a new one is made in the caller''s transaction, and a second caller that needs it waits for the commit.';

CREATE FUNCTION q.enqueue(
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
  options jsonb;
  law jsonb;
  own_lane integer;
  own_scope text;
  gated_by text;
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
  options := coalesce(published.options, '{}');

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

  IF jsonb_typeof(options -> 'concurrency') = 'object' THEN
    gated_by := q.key_at(payload, options #>> '{concurrency,key}');
    own_scope := CASE WHEN gated_by IS NOT NULL THEN coalesce(options #>> '{concurrency,shared}', enqueue.task) END;
  END IF;
  own_deadline := coalesce(expires_in, (options ->> 'expiresMs')::double precision * interval '1 ms');

  -- There is one law, that of the call, else that of the task. A payload without the value has no key.
  IF num_nonnulls(unique_key, unique_for, throttle_key, throttle_for, debounce_key, debounce_for, debounce_max) = 0 THEN
    law := options -> 'unique';
    own_key := q.key_at(payload, law ->> 'key');
    IF own_key IS NOT NULL THEN
      own_period := (law ->> 'forMs')::double precision * interval '1 ms';
    END IF;
    law := options -> 'throttle';
    throttled_by := q.key_at(payload, law ->> 'key');
    IF throttled_by IS NOT NULL THEN
      own_period := (law ->> 'forMs')::double precision * interval '1 ms';
    END IF;
    law := options -> 'debounce';
    debounced_by := q.key_at(payload, law ->> 'key');
    IF debounced_by IS NOT NULL THEN
      own_wait := (law ->> 'forMs')::double precision * interval '1 ms';
      own_max := (law ->> 'maxMs')::double precision * interval '1 ms';
    END IF;
  END IF;
  IF debounced_by IS NOT NULL AND own_wait <= longest THEN
    own_max := coalesce(own_max, 10 * own_wait);
  END IF;

  problems := array_remove(ARRAY[
    q.name_problem('task', enqueue.task, 100),
    q.name_problem('queue', coalesce(enqueue.queue, published.queue, 'default'), 100),
    q.name_problem('group', coalesce(run_group, '-'), 200),
    q.name_problem('unique key', coalesce(own_key, '-'), 500),
    q.name_problem('throttle key', coalesce(throttled_by, '-'), 500),
    q.name_problem('debounce key', coalesce(debounced_by, '-'), 500),
    q.name_problem('concurrency scope', coalesce(own_scope, '-'), 100)], NULL);
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

  own_lane := q.lane_of(coalesce(enqueue.queue, published.queue, 'default'), enqueue.task,
    ARRAY(SELECT jsonb_array_elements_text(CASE WHEN jsonb_typeof(options -> 'requires') = 'array' THEN options -> 'requires' ELSE '[]' END)));
  gate := CASE WHEN own_wait IS NOT NULL THEN 'time' WHEN gated_by IS NOT NULL THEN 'concurrency' END;
  taken_key := coalesce(own_key, 'throttle' || chr(31) || throttled_by);

  -- Who comes last is decided by the lock on the key's row. The look at the run comes after it, in a statement of its own,
  -- because only that sees what the one before wrote. A run whose time has come is not touched any more.
  IF debounced_by IS NOT NULL THEN
    INSERT INTO q.debounce AS d (task, debounce_key, run_id) VALUES (enqueue.task, debounced_by, 0)
    ON CONFLICT (task, debounce_key) DO UPDATE SET run_id = d.run_id;
    UPDATE q.task_run r SET
      lane = own_lane, priority = coalesce(enqueue.priority, (options ->> 'priority')::smallint, 0), grp = coalesce(run_group, ''),
      max_attempts = coalesce(enqueue.max_attempts, (options #>> '{retry,attempts}')::smallint, 1),
      on_crash = (options ->> 'onCrash')::q.on_crash, timeout_ms = NULL, max_silent_ms = NULL, concurrency_scope = own_scope,
      concurrency_key = own_scope || chr(31) || gated_by, trace = enqueue.trace, payload = enqueue.payload,
      run_at = least(clock_timestamp() + own_wait, r.created_at + own_max), expires_at = clock_timestamp() + own_deadline,
      updated_at = clock_timestamp()
    FROM q.debounce d
    WHERE d.task = enqueue.task AND d.debounce_key = debounced_by AND r.id = d.run_id AND r.fence = 0 AND r.due_at > clock_timestamp()
    RETURNING r.id, r.status, true INTO enqueue.id, enqueue.status, enqueue.duplicate;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;

  -- Between a refused duplicate and the look for it the other run may have ended: then insert again.
  FOR tries IN 1..5 LOOP
    INSERT INTO q.task_run AS made (task, lane, priority, grp, max_attempts, on_crash, run_at, expires_at, status, waiting_for,
      unique_key, concurrency_scope, concurrency_key, trace, payload)
    SELECT enqueue.task, own_lane, coalesce(enqueue.priority, (options ->> 'priority')::smallint, 0), coalesce(run_group, ''),
      coalesce(enqueue.max_attempts, (options #>> '{retry,attempts}')::smallint, 1), (options ->> 'onCrash')::q.on_crash,
      clock_timestamp() + coalesce(own_wait, '0'), clock_timestamp() + own_deadline,
      CASE WHEN gate IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status, gate,
      own_key, own_scope, own_scope || chr(31) || gated_by, enqueue.trace, enqueue.payload
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
      -- Somebody took the key meanwhile, or had it and was removed by hand: which of both, only a statement after the one
      -- that waited can see.
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
  RAISE EXCEPTION 'the unique key of a run of % was taken and freed 5 times meanwhile', enqueue.task
    USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
END $$;
COMMENT ON FUNCTION q.enqueue IS 'A run of a task, by what replicas have published about it; part of the caller''s transaction. duplicate: it was there already: its unique key or its window was taken, or a debounced run that waits has become what was asked for.';
-- With the rights of its owner: whoever may call it can enqueue, and do nothing else to a run.
REVOKE ALL ON FUNCTION q.enqueue FROM PUBLIC;

-- Who commits need not be allowed to see who is idle.
ALTER FUNCTION q.wake_idle() SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
