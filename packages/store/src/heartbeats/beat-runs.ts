/**
 * Writes the heartbeats of all runs of a replica in one statement, whose response has the state of each lease.
 *
 * The state of the run decides the role of its heartbeat: claimer while CLAIMED, runner while RUNNING. A heartbeat is
 * accepted only under the current fence. `ageMs` is the age of the evidence, so the stored time is that of the evidence and
 * not of the write. A heartbeat under a lost lease is refused, and an event records that once per lease; a run that was
 * settled under its own lease is not lost but ended.
 *
 * Each run is locked briefly, or skipped if another session is changing it: a user's open transaction that ends a run does
 * not delay the heartbeats of all others, and no heartbeat is written after the end of its run. The response names skipped
 * runs: their heartbeat was not stored, and reapers still count from the last one that was.
 */
import { storableText } from '@q/schema/json'
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import { columnsOf, leaseKey, type Lease, type LeaseColumns } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'

export interface RunBeat {
  readonly lease: Lease
  /** Null: no thread executes it yet. */
  readonly thread: number | null
  readonly ageMs: number
  readonly progress: number | null
  readonly note: string | null
}

export interface BeatSender {
  readonly replicaId: string
  readonly hostname: string
  readonly pid: number
}

export interface BeatRow extends Lease {
  readonly answer: BeatAnswer
}

/**
 * `cancelled`: stop the run. `lost`: another replica has it, or may have. `ended`: settled under this lease. `busy`: the
 * lease is valid, but another session has locked the run, so this heartbeat was not stored.
 */
export type BeatAnswer = 'alive' | 'busy' | 'cancelled' | 'ended' | 'lost'

/** Returns one answer per heartbeat, in the order given. */
export async function beatTaskRuns(db: Db, sender: BeatSender, beats: readonly RunBeat[]): Promise<BeatAnswer[]> {
  if (beats.length === 0) return []
  const { rows } = await db.executeQuery(beatStatement(sender, beats))
  const answers = new Map(rows.map((row) => [leaseKey(row), row.answer]))
  return beats.map(({ lease }) => answers.get(leaseKey(lease)) ?? 'lost')
}

export function beatStatement(sender: BeatSender, beats: readonly RunBeat[]): CompiledQuery<BeatRow> {
  return beat({
    ...sender,
    ...columnsOf(beats.map(({ lease }) => lease)),
    senders: beats.map(({ thread }) => (thread === null ? sender.replicaId : `${sender.replicaId}/${thread}`)),
    ages: beats.map(({ ageMs }) => ageMs),
    // A value that the database rejects would stop the heartbeats of all runs.
    progresses: beats.map(({ progress }) => (progress === null ? null : Math.fround(progress))),
    notes: beats.map(({ note }) => (note === null ? null : storableText(note))),
  })
}

interface BeatColumns extends LeaseColumns, BeatSender {
  readonly senders: readonly string[]
  readonly ages: readonly number[]
  readonly progresses: readonly (number | null)[]
  readonly notes: readonly (string | null)[]
}

// Written in SQL: arrays in, an upsert, and an answer from the runs themselves.
const beat = prepared<BeatColumns, BeatRow>(
  'beat-runs',
  (given) => sql<BeatRow>`
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(${given.ids}::bigint[], ${given.fences}::int[], ${given.senders}::text[], ${given.ages}::float8[],
    ${given.progresses}::real[], ${given.notes}::text[]) AS g(id, fence, sender_id, age_ms, progress, note)
), seen AS MATERIALIZED (
  SELECT given.*, CASE
    WHEN r.fence <> given.fence OR r.status IN ('PENDING', 'AVAILABLE') THEN 'lost'
    WHEN r.held IS NULL THEN 'ended'
    WHEN r.cancel_requested_at IS NOT NULL THEN 'cancelled'
    ELSE 'alive' END AS answer
  FROM given JOIN q.task_run r ON r.id = given.id
), locked AS MATERIALIZED (
  SELECT seen.*, r.status FROM seen JOIN q.task_run r ON r.id = seen.id AND r.fence = seen.fence
  WHERE seen.answer IN ('alive', 'cancelled') AND r.status IN ('CLAIMED', 'RUNNING')
  ORDER BY r.id FOR SHARE OF r SKIP LOCKED
), beaten AS (
  INSERT INTO q.task_heartbeat AS h (run_id, role, fence, sender_id, sent_at, hostname, pid, progress, note)
  SELECT id, CASE status WHEN 'CLAIMED' THEN 'claimer' ELSE 'runner' END::q.beat_role, fence, sender_id,
    clock_timestamp() - age_ms * interval '1 ms', ${given.hostname}, ${given.pid}::int, progress, note
  FROM locked ORDER BY id
  ON CONFLICT (run_id, role) DO UPDATE SET
    fence = excluded.fence, sender_id = excluded.sender_id, sent_at = excluded.sent_at, hostname = excluded.hostname,
    pid = excluded.pid, progress = excluded.progress, note = excluded.note
  WHERE h.fence <= excluded.fence
), refused AS (
  INSERT INTO q.task_event (run_id, fence, kind, replica_id)
  SELECT id, fence, 'refused-beat', ${given.replicaId} FROM seen WHERE answer = 'lost'
  ON CONFLICT DO NOTHING
)
SELECT id AS "runId", fence, CASE WHEN answer = 'alive' AND id NOT IN (SELECT id FROM locked) THEN 'busy' ELSE answer END AS answer
FROM seen`,
)
