/**
 * A run as shown in lists, without payload and long results, which could make a page large (`getTaskRun` returns them).
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'

export interface RunSummary {
  readonly id: RunId
  readonly task: string
  readonly queue: string
  readonly group: string
  readonly status: TaskState
  /** The code of an end that is not a success. */
  readonly code: string | null
  /** The first 200 characters of the error of an end that is not a success. */
  readonly detail: string | null
  /** Result of a success as JSON text, if it is short. */
  readonly resultText: string | null
  readonly waitingFor: string | null
  readonly priority: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashCount: number
  readonly epoch: number
  readonly replicaId: string | null
  readonly replicaName: string | null
  readonly workflowId: string | null
  readonly uniqueKey: string | null
  /** 0 to 1, while the run is held; null: its code has not reported progress. */
  readonly progress: number | null
  readonly note: string | null
  /** Whether a person has reviewed its last recovery as FAILED; null: there is nothing to review. */
  readonly reviewed: boolean | null
  readonly createdAt: Date
  readonly runAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly cancelRequestedAt: Date | null
}

const resultBytesMax = 200

/** Returns runs in the order of the given ids; leaves out runs that do not exist. */
export async function runSummaries(db: Db, ids: readonly RunId[]): Promise<RunSummary[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<RunSummary>`
SELECT r.id, r.task, r.grp AS "group", r.status, r.waiting_for AS "waitingFor", r.priority, r.attempt, r.max_attempts AS "maxAttempts",
  r.crash_count AS "crashCount", r.epoch, r.replica_id AS "replicaId", n.name AS "replicaName", r.workflow_id AS "workflowId",
  r.unique_key AS "uniqueKey", beat.progress, beat.note, r.created_at AS "createdAt", r.run_at AS "runAt", r.started_at AS "startedAt",
  r.finished_at AS "finishedAt", r.cancel_requested_at AS "cancelRequestedAt",
  coalesce(lane.queue, CASE WHEN r.asked IS NOT NULL THEN coalesce(r.asked ->> 'queue', 'default') END, '') AS queue,
  CASE WHEN r.status <> 'SUCCEEDED' THEN r.result ->> 'code' END AS code,
  CASE WHEN r.status <> 'SUCCEEDED' THEN left(r.result ->> 'detail', 200) END AS detail,
  CASE WHEN r.status = 'SUCCEEDED' AND pg_column_size(r.result) <= ${resultBytesMax}::int THEN r.result::text END AS "resultText",
  (SELECT v.reviewed_at IS NOT NULL FROM q.recovery v WHERE v.run_id = r.id AND v.became = 'FAILED' ORDER BY v.id DESC LIMIT 1) AS reviewed
FROM unnest(${ids}::bigint[]) WITH ORDINALITY AS wanted(id, place)
CROSS JOIN LATERAL (SELECT one.* FROM q.task_run one WHERE one.id = wanted.id LIMIT 1) r
LEFT JOIN q.lane ON lane.id = r.lane LEFT JOIN q.replica n ON n.id = r.replica_id
LEFT JOIN q.task_heartbeat beat ON beat.run_id = r.id AND beat.role = 'runner' AND beat.fence = r.fence
ORDER BY wanted.place`.execute(db)
  return rows
}
