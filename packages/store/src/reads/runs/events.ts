/** Unusual events of a run: refused writes, cancel requests, losses. */
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'

export interface RunEvent {
  /** The fence of the claim that it belongs to. */
  readonly fence: number
  readonly kind: string
  readonly at: Date
  readonly replicaId: string | null
  readonly detail: string | null
}

/** The most events, latest first; each claim has only a few. */
const eventsMax = 1_000

export async function runEvents(db: Db, id: RunId): Promise<RunEvent[]> {
  const latest = await db
    .selectFrom('q.task_event')
    .select(['fence', 'kind', 'happened_at as at', 'replica_id as replicaId', 'detail'])
    .where('run_id', '=', id)
    .orderBy('fence', 'desc')
    .orderBy('happened_at', 'desc')
    .limit(eventsMax)
    .execute()
  return latest.toReversed()
}
