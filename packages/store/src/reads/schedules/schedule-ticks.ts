/** Lists the last ticks of a schedule and the outcomes of their runs. Takes no locks; walks the primary key. */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'

export interface ScheduleTick {
  readonly tick: Date
  readonly runId: RunId
  readonly status: TaskState
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  /** The code of an end that is not a success. */
  readonly code: string | null
}

const ticksMax = 500

/** Newest first, without ticks whose run has been pruned. */
export async function scheduleTicks(db: Db, schedule: string, limit: number = 20): Promise<ScheduleTick[]> {
  const most = Math.min(Math.max(1, Math.trunc(limit)), ticksMax)
  const { rows } = await sql<ScheduleTick>`
SELECT t.tick, t.run_id AS "runId", r.status, r.started_at AS "startedAt", r.finished_at AS "finishedAt",
  CASE WHEN r.status <> 'SUCCEEDED' THEN r.result ->> 'code' END AS code
FROM (SELECT tick, run_id FROM q.schedule_tick WHERE schedule = ${schedule} ORDER BY tick DESC LIMIT ${most}::int) t
CROSS JOIN LATERAL (SELECT one.* FROM q.task_run one WHERE one.id = t.run_id LIMIT 1) r ORDER BY t.tick DESC`.execute(
    db,
  )
  return rows
}
