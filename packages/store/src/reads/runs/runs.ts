/** Reads runs by id, for callers that wait for or look at them. Takes no locks. */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'

export interface RunView {
  readonly id: RunId
  readonly task: string
  readonly status: TaskState
  readonly attempt: number
  readonly replicaId: string | null
  /** Return value of a SUCCEEDED run; `{ code, detail }` of any other ended run. */
  readonly result: unknown
  /** 0 to 1, as reported by the code; null: not reported, or the run has ended. */
  readonly progress: number | null
  readonly note: string | null
}

export async function getTaskRuns(db: Db, ids: readonly RunId[]): Promise<RunView[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('q.task_run as r')
    .leftJoin('q.task_heartbeat as h', (join) =>
      join.onRef('h.run_id', '=', 'r.id').on('h.role', '=', 'runner').onRef('h.fence', '=', 'r.fence'),
    )
    .select([
      'r.id',
      'r.task',
      'r.status',
      'r.attempt',
      'r.replica_id as replicaId',
      'r.result',
      'h.progress',
      'h.note',
    ])
    .where('r.id', '=', sql<string>`ANY(${ids}::bigint[])`)
    .execute()
  return rows.map((row) => ({ ...row, id: row.id as RunId }))
}

/** Requests a wake for the end of these runs. */
export async function awaitTaskRuns(db: Db, ids: readonly RunId[]): Promise<void> {
  // An array: a statement takes at most 65 535 parameters, and a caller may wait for more runs.
  await sql`INSERT INTO q.awaited (run_id) SELECT unnest(${ids}::bigint[]) ON CONFLICT DO NOTHING`.execute(db)
}
