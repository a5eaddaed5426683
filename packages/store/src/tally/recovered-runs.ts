/** Reads the effects of recoveries on runs, for the counts of the recovering replica. */
import type { ErrorCode, TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'

export interface RecoveredRun {
  readonly runId: RunId
  readonly task: string
  readonly queue: string
  readonly was: TaskState
  readonly became: TaskState
  readonly code: ErrorCode
}

/** Returns the last recovery of each run. `code` is that of the ended attempt, even if the run is started again. */
export async function recoveredRuns(db: Db, ids: readonly RunId[]): Promise<RecoveredRun[]> {
  const { rows } = await sql<RecoveredRun>`
SELECT DISTINCT ON (v.run_id) v.run_id AS "runId", r.task, coalesce(lane.queue, '') AS queue, v.was, v.became,
  coalesce(a.code, v.code, 'WORKER_CRASHED') AS code
FROM q.recovery v JOIN q.task_run r ON r.id = v.run_id LEFT JOIN q.lane ON lane.id = r.lane
LEFT JOIN q.task_attempt a ON a.run_id = v.run_id AND a.fence = v.fence
WHERE v.run_id = ANY(${ids}::bigint[]) ORDER BY v.run_id, v.id DESC`.execute(db)
  return rows
}
