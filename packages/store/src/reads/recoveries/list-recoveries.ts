/** Lists recoveries of runs from holders that were considered dead, newest first. Takes no locks. */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { pageOf, placeOf, type Page } from '../page.ts'

export interface RecoveryView {
  readonly id: string
  readonly runId: RunId
  /** Null: the run has been pruned. */
  readonly task: string | null
  readonly at: Date
  readonly cause: string
  readonly was: TaskState
  readonly became: TaskState
  readonly code: string | null
  readonly beatAgeMs: number | null
  readonly replicaId: string
  readonly replicaName: string | null
  readonly recoveredBy: string
  /** The name of the replica that recovered the run; null: its row was removed, or a person recovered the run. */
  readonly recoveredByName: string | null
  /** Whether the run's code was running, so that a person should decide whether to retry it. */
  readonly needsReview: boolean
  readonly reviewedAt: Date | null
  readonly reviewedBy: string | null
}

export interface RecoveryRequest {
  /** Id of the replica that held the runs. */
  readonly node?: string
  /** Only recoveries that no person has reviewed. */
  readonly toReview?: boolean
  /** `next` of the previous page. */
  readonly before?: string
  /** 50 unless set, at most 500. */
  readonly limit?: number
}

export async function listRecoveries(db: Db, request: RecoveryRequest = {}): Promise<Page<RecoveryView>> {
  const { before: cursor, limit: asked } = request
  const { limit, before } = placeOf({
    ...(cursor === undefined ? {} : { cursor }),
    ...(asked === undefined ? {} : { limit: asked }),
  })
  const conditions = [
    sql<boolean>`true`,
    ...(before === undefined ? [] : [sql<boolean>`r.id < ${before}`]),
    ...(request.node === undefined ? [] : [sql<boolean>`r.replica_id = ${request.node}`]),
    // Written exactly like the index condition.
    ...(request.toReview === true ? [sql<boolean>`r.became = 'FAILED' AND r.reviewed_at IS NULL`] : []),
  ]
  const nameOf = (column: string) => sql`(SELECT n.name FROM q.replica n WHERE n.id = ${sql.ref(column)})`
  // Looks up names row by row: a join could be planned as a scan of all runs.
  const { rows } = await sql<RecoveryView>`
SELECT r.id, r.run_id AS "runId", (SELECT run.task FROM q.task_run run WHERE run.id = r.run_id) AS task, r.recovered_at AS at,
  r.cause, r.was, r.became, r.code, r.beat_age_ms::float8 AS "beatAgeMs", r.replica_id AS "replicaId",
  ${nameOf('r.replica_id')} AS "replicaName", r.recovered_by AS "recoveredBy", ${nameOf('r.recovered_by')} AS "recoveredByName",
  r.became = 'FAILED' AND r.reviewed_at IS NULL AS "needsReview", r.reviewed_at AS "reviewedAt", r.reviewed_by AS "reviewedBy"
FROM (SELECT * FROM q.recovery r WHERE ${sql.join(conditions, sql` AND `)} ORDER BY r.id DESC LIMIT ${limit + 1}::int) r
ORDER BY r.id DESC`.execute(db)
  return pageOf(rows, limit)
}
