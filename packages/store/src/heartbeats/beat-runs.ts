/**
 * Runner beats: all runs of a replica in one statement, whose answer tells what became of each lease.
 *
 * A beat is accepted only under the current fence. `ageMs` is how long ago the evidence was seen, so what is stored is
 * the time of the evidence and not of the write.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import { columnsOf, leaseKey, type Lease } from '../lease.ts'

export interface RunBeat {
  readonly lease: Lease
  readonly thread: number
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
  readonly cancelled: boolean
}

export type BeatAnswer = 'alive' | 'cancelled' | 'lost'

/** One answer per beat, in the order given. */
export async function beatRunningTaskRuns(
  db: Db,
  sender: BeatSender,
  beats: readonly RunBeat[],
): Promise<BeatAnswer[]> {
  if (beats.length === 0) return []
  const { rows } = await beatStatement(sender, beats).execute(db)
  const answers = new Map(rows.map((row) => [leaseKey(row), row.cancelled]))
  return beats.map(({ lease }) => {
    const cancelled = answers.get(leaseKey(lease))
    return cancelled === undefined ? 'lost' : cancelled ? 'cancelled' : 'alive'
  })
}

// A whole statement by hand: arrays in, upsert, and an answer from the runs themselves.
export function beatStatement(sender: BeatSender, beats: readonly RunBeat[]): RawBuilder<BeatRow> {
  const { ids, fences } = columnsOf(beats.map((beat) => beat.lease))
  const senders = beats.map((beat) => `${sender.replicaId}/${beat.thread}`)
  const ages = beats.map((beat) => beat.ageMs)
  const progresses = beats.map((beat) => beat.progress)
  const notes = beats.map((beat) => beat.note)
  return sql<BeatRow>`
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(${ids}::bigint[], ${fences}::int[], ${senders}::text[], ${ages}::float8[], ${progresses}::real[],
    ${notes}::text[]) AS g(id, fence, sender_id, age_ms, progress, note)
), held AS MATERIALIZED (
  SELECT given.*, r.cancel_requested_at IS NOT NULL AS cancelled
  FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = given.fence
  WHERE r.status = 'RUNNING'
), beaten AS (
  INSERT INTO q.task_heartbeat AS h (run_id, role, fence, sender_id, sent_at, hostname, pid, progress, note)
  SELECT id, 'runner', fence, sender_id, clock_timestamp() - age_ms * interval '1 ms', ${sender.hostname}, ${sender.pid}::int,
    progress, note
  FROM held ORDER BY id
  ON CONFLICT (run_id, role) DO UPDATE SET
    fence = excluded.fence, sender_id = excluded.sender_id, sent_at = excluded.sent_at, hostname = excluded.hostname,
    pid = excluded.pid, progress = excluded.progress, note = excluded.note
  WHERE h.fence <= excluded.fence
)
SELECT id AS "runId", fence, cancelled FROM held`
}
