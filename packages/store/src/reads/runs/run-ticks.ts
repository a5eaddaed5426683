/**
 * Reads the few members of runs that change while they run, for a loop that displays them. Takes no locks; one lookup
 * per run.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { agoMs } from '../bounded.ts'

export interface RunTick {
  readonly id: RunId
  readonly status: TaskState
  readonly attempt: number
  readonly fence: number
  readonly progress: number | null
  readonly note: string | null
  /** Time since the last heartbeat, start or claim; null: the run is not held. */
  readonly beatAgeMs: number | null
  readonly replicaId: string | null
}

const ticksMax = 500

/** Reads at most the first 500 ids; leaves out runs that do not exist. */
export async function runTicks(db: Db, ids: readonly RunId[]): Promise<RunTick[]> {
  if (ids.length === 0) return []
  const lastSign = sql`CASE WHEN r.held THEN greatest(beat.sent_at, r.started_at, r.claimed_at) END`
  const { rows } = await sql<RunTick>`
SELECT r.id, r.status, r.attempt, r.fence, r.replica_id AS "replicaId", beat.progress, beat.note, ${agoMs(lastSign)} AS "beatAgeMs"
FROM unnest(${ids.slice(0, ticksMax)}::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (SELECT one.* FROM q.task_run one WHERE one.id = wanted.id LIMIT 1) r
LEFT JOIN q.task_heartbeat beat ON beat.run_id = r.id AND beat.role = 'runner' AND beat.fence = r.fence`.execute(db)
  return rows
}
