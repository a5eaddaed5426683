-- Wakes for earlier releases are sent only while one of their replicas waits for work. Until then every commit sent them, and a
-- replica without the required capabilities looked for runs that it cannot serve.

CREATE FUNCTION q.older_replica_waits() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT (SELECT oldest_program < 14 FROM q.compatibility)
    AND EXISTS (SELECT FROM q.idle LEFT JOIN q.replica n ON n.id = idle.replica_id WHERE coalesce(n.level, 0) < 14)
$$;
COMMENT ON FUNCTION q.older_replica_waits() IS 'Whether a replica waits for work that listens on q_ready and not on q_available.';

CREATE OR REPLACE FUNCTION q.wake_idle() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM q.idle) THEN
    IF NEW.gated_key IS NOT NULL THEN
      PERFORM pg_notify('q_gated', left(NEW.gated_key, 1000));
    ELSIF NEW.due_at IS NOT NULL THEN
      PERFORM pg_notify('q_due', greatest(0, ceil(extract(epoch FROM NEW.due_at - clock_timestamp()) * 1000))::bigint::text);
    ELSE
      PERFORM pg_notify('q_available', q.wake_text(lane.queue, lane.requires)) FROM q.lane WHERE lane.id = NEW.lane;
      IF q.older_replica_waits() THEN
        PERFORM pg_notify('q_ready', coalesce((SELECT queue FROM q.lane WHERE id = NEW.lane), ''));
      END IF;
    END IF;
  END IF;
  RETURN NULL;
END $$;
