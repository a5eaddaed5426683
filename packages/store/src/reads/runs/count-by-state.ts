/** Counts all runs by state. It reads the whole table: call it on a person's request, not in a loop. */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'

export async function countRunsByState(db: Db): Promise<{ status: TaskState; runs: number }[]> {
  return db
    .selectFrom('q.task_run')
    .select(['status', sql<number>`count(*)::int`.as('runs')])
    .groupBy('status')
    .orderBy('status')
    .execute()
}
