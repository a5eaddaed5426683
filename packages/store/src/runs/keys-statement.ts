/**
 * Gives the slots of concurrency keys to the runs that should hold them, as one statement for many keys.
 *
 * CLAIMED and RUNNING runs keep their slots. AVAILABLE and waiting runs that can start now (startable.ts) compete for the
 * others: first runs that a replica serves, then by priority; among equals a run keeps its slot, then the order of
 * enqueue decides. An AVAILABLE run that cannot start, or is less urgent than a waiting run, returns to PENDING and frees
 * its slot. A run that another transaction has locked keeps its slot.
 *
 * The caller holds the locks of the keys. The aggregate in `given` frees slots before they are assigned again.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { RunId } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { slotsOf } from './claimable.ts'
import { wakesForReady } from './ready-wakes.ts'
import { lanesWaitingFor, startRank } from './startable.ts'

/**
 * The most runs that one statement promotes. The limit also keeps the planner from choosing a scan of the whole table.
 */
export const successorsMax = 1_000

/** Further candidates of a lane, in case the first ones are locked. */
const spares = 4

export interface MovedRun {
  readonly id: RunId
  /** PENDING: the run gave up its slot. */
  readonly status: 'AVAILABLE' | 'PENDING'
}

export function promoteKeysStatement(keys: readonly string[]): CompiledQuery<MovedRun> {
  return promote({ keys })
}

/** Uses the status: with `ready` the planner could choose the ready index, which has no keys. */
const isUnclaimed = sql<boolean>`r.status = 'AVAILABLE'`

/** For a run that was chosen by its id. Does not use `gated_key`: a plan could scan all runs of the key instead. */
const waitsForKey = sql<boolean>`n.status = 'PENDING' AND n.waiting_for = 'concurrency' AND n.concurrency_key = plans.key`

/** Larger than any difference of priorities. */
const rankStep = 65_536

// Written in SQL: it reads each key once by its indexes and locks only what it changes. Where it reads slots it names
// the key: without it a plan may read the slots of every key.
const promote = prepared<{ keys: readonly string[] }, MovedRun>(
  'promote-keys',
  ({ keys }) => sql<MovedRun>`
WITH keys AS MATERIALIZED (
  SELECT wanted.key, ${slotsOf(sql`split_part(wanted.key, chr(31), 1)`)} AS slots,
    ARRAY(${lanesWaitingFor(sql.ref('wanted.key'))}) AS lanes,
    ARRAY(SELECT DISTINCT r.lane FROM q.task_run r
      WHERE r.concurrency_key = wanted.key AND r.concurrency_slot IS NOT NULL AND ${isUnclaimed}) AS lanes_held
  FROM (SELECT DISTINCT key FROM unnest(${keys}::text[]) key) wanted
), ranks AS MATERIALIZED (
  SELECT lane.id, ${startRank} AS rank FROM q.lane
  WHERE lane.id = ANY(ARRAY(SELECT DISTINCT unnest(lanes || lanes_held) FROM keys))
), plans AS MATERIALIZED (
  SELECT keys.key, keys.slots, occupied.taken, contest.successors, contest.leaving FROM keys
  CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(r.concurrency_slot), '{}') AS taken, greatest(0, keys.slots - count(*) FILTER (WHERE NOT ${isUnclaimed}))::int AS room,
      count(*) FILTER (WHERE ranks.rank IS NOT NULL)::int AS kept, max(ranks.rank * ${rankStep}::int + r.priority) AS worst
    FROM q.task_run r LEFT JOIN ranks ON ${isUnclaimed} AND ranks.id = r.lane
    WHERE r.concurrency_key = keys.key AND r.concurrency_slot IS NOT NULL) occupied
  CROSS JOIN LATERAL (
    SELECT array_agg(id ORDER BY ordinal) FILTER (WHERE waits) AS successors,
      array_agg(id) FILTER (WHERE NOT waits AND (rank IS NULL OR ordinal > occupied.room AND first_successor <= occupied.room)) AS leaving
    FROM (
      SELECT *, min(ordinal) FILTER (WHERE waits) OVER () AS first_successor FROM (
        SELECT *, row_number() OVER (ORDER BY rank, priority, waits, id) AS ordinal FROM (
          SELECT r.id, r.priority, ranks.rank, false AS waits FROM q.task_run r LEFT JOIN ranks ON ranks.id = r.lane
          WHERE r.concurrency_key = keys.key AND r.concurrency_slot IS NOT NULL AND ${isUnclaimed}
          UNION ALL
          SELECT n.id, n.priority, ranks.rank, true FROM unnest(keys.lanes) waiting(lane)
          JOIN ranks ON ranks.id = waiting.lane AND ranks.rank IS NOT NULL
          CROSS JOIN LATERAL (
            SELECT n.id, n.priority FROM q.task_run n
            WHERE n.gated_key = keys.key AND n.lane = waiting.lane
              AND n.priority < CASE WHEN occupied.kept < occupied.room THEN ${rankStep}::int ELSE occupied.worst - ranks.rank * ${rankStep}::int END
            ORDER BY n.priority, n.id LIMIT CASE WHEN occupied.room > 0 THEN occupied.room + ${spares}::int ELSE 0 END) n
        ) one) placed) ranked) contest
), leaving AS MATERIALIZED (
  SELECT plans.key, locked.id, locked.slot FROM plans CROSS JOIN LATERAL (
    SELECT r.id, r.concurrency_slot AS slot FROM q.task_run r
    WHERE r.concurrency_key = plans.key AND r.concurrency_slot IS NOT NULL AND r.id = ANY(plans.leaving) AND ${isUnclaimed} ORDER BY r.id FOR NO KEY UPDATE SKIP LOCKED) locked
), returned AS (
  UPDATE q.task_run r SET status = 'PENDING', waiting_for = 'concurrency', concurrency_slot = NULL, updated_at = clock_timestamp()
  FROM leaving WHERE r.id = leaving.id
  RETURNING r.id, leaving.key, leaving.slot
), given AS MATERIALIZED (
  SELECT key, array_agg(slot) AS slots FROM returned GROUP BY key
), successors AS MATERIALIZED (
  SELECT successor.id, free.slots[successor.number] AS slot FROM plans LEFT JOIN given ON given.key = plans.key
  CROSS JOIN LATERAL (
    SELECT ARRAY(SELECT slot FROM generate_series(1, plans.slots) slot
      WHERE slot = ANY(given.slots) OR slot <> ALL(plans.taken) ORDER BY slot) AS slots,
      greatest(0, plans.slots - cardinality(plans.taken) + coalesce(cardinality(given.slots), 0)) AS room) free
  CROSS JOIN LATERAL (
    SELECT locked.id, row_number() OVER () AS number FROM (
      SELECT n.id FROM unnest(plans.successors) candidate(id) CROSS JOIN LATERAL (
        SELECT n.id FROM q.task_run n WHERE n.id = candidate.id AND ${waitsForKey} FOR NO KEY UPDATE SKIP LOCKED) n
      LIMIT free.room) locked) successor
  WHERE plans.successors IS NOT NULL
  LIMIT ${successorsMax}::int
), promoted AS (
  UPDATE q.task_run r SET status = 'AVAILABLE', waiting_for = NULL, concurrency_slot = successors.slot, updated_at = clock_timestamp()
  FROM successors WHERE r.id = successors.id
  RETURNING r.id, r.lane
), ${wakesForReady(sql`promoted`)}
SELECT id, 'AVAILABLE' AS status FROM promoted LEFT JOIN announced ON true UNION ALL SELECT id, 'PENDING' FROM returned`,
)
