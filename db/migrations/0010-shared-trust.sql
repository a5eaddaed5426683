-- Since when the server has accepted heartbeats without a gap, from any replica. With it a replica that has just started may judge others.

CREATE UNLOGGED TABLE q.beat_streak (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  server_start timestamptz NOT NULL,
  last_beat timestamptz NOT NULL,
  good_since timestamptz[] NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE q.beat_streak IS 'One row: heartbeats that the server has accepted without a gap, from any replica. Written at most twice a second. Unlogged: a crash or promotion of the server empties it, and the count begins again.';
COMMENT ON COLUMN q.beat_streak.server_start IS 'When the server that accepted them started.';
COMMENT ON COLUMN q.beat_streak.good_since IS 'Element k: since when there has been no gap of more than 2^(k-1) seconds.';

-- db/roles.sql grants rights on the tables that exist when it is applied. Heartbeats must not fail until it is applied again.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'q_runner') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON q.beat_streak TO q_runner;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'q_admin') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON q.beat_streak TO q_admin;
  END IF;
END $$;
