/**
 * A replica publishes the tasks it knows, so that producers which never load their code enqueue with the right queue
 * and a typing error is answered with the nearest name. The last replica to start wins: it has the newest code. Runs that
 * were enqueued before then pass the gate `task` (open-gate.ts).
 */
import type { DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import type { Db } from '../db.ts'
import { internLane } from '../lanes.ts'
import { openTaskGate } from './open-gate.ts'

export interface TaskNotice {
  readonly name: string
  readonly queue: string
  /** The task's options, as data. */
  readonly options: object
  /** JSON Schema of the payload, where the task's validator gives one. */
  readonly payloadSchema: Record<string, unknown> | null
}

const batchesAtOnce = 4

export async function publishTasks(db: Kysely<DB>, replicaId: string, tasks: readonly TaskNotice[]): Promise<void> {
  if (tasks.length === 0) return
  await db
    .insertInto('q.task')
    .values(
      // In one order, so that replicas that start together cannot deadlock.
      tasks
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map((task) => ({
          name: task.name,
          queue: task.queue,
          options: JSON.stringify(task.options),
          payload_schema: task.payloadSchema === null ? null : JSON.stringify(task.payloadSchema),
          published_by: replicaId,
        })),
    )
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({
        queue: row.ref('excluded.queue'),
        options: row.ref('excluded.options'),
        payload_schema: row.ref('excluded.payload_schema'),
        published_by: row.ref('excluded.published_by'),
        published_at: sql<Date>`clock_timestamp()`,
      })),
    )
    .execute()
  for (const task of tasks) await internLane(db, { queue: task.queue, task: task.name, requires: requiresOf(task) })
  // The tasks are published even if this fails: the sweep opens the gate later. It also continues where this stops, so that
  // a replica starts soon, however many runs wait.
  await openTaskGate(
    db,
    tasks.map(({ name }) => name),
    batchesAtOnce,
  ).catch(() => [])
}

/** Lanes are made here, so that no producer has to make one inside of its transaction. */
function requiresOf({ options }: TaskNotice): string[] {
  const requires: unknown = Reflect.get(options, 'requires')
  return Array.isArray(requires) ? requires.map(String) : []
}

export interface PublishedTask {
  readonly name: string
  readonly queue: string
  readonly onCrash: 'fail' | 'retry' | null
  /** As its replicas published them; those of another release may know more, or less. */
  readonly options: Readonly<Record<string, unknown>>
  /** JSON Schema of the payload, where there is one. */
  readonly payloadSchema: Readonly<Record<string, unknown>> | null
}

export async function publishedTasks(db: Db): Promise<PublishedTask[]> {
  return db
    .selectFrom('q.task')
    .select(['name', 'queue', sql<PublishedTask['onCrash']>`options->>'onCrash'`.as('onCrash')])
    .select(sql<PublishedTask['options']>`options`.as('options'))
    .select(sql<PublishedTask['payloadSchema']>`payload_schema`.as('payloadSchema'))
    .orderBy('name')
    .execute()
}
