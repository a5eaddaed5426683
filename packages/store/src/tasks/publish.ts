/**
 * Publishes the tasks of a replica, so that producers that never load their code enqueue to the right queue, and a
 * misspelled name is answered with the nearest one. The last replica to start wins: it has the newest code. Runs that were
 * enqueued earlier then pass the gate `task` (open-gate.ts).
 */
import type { DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import type { Db } from '../connection/db.ts'
import { internLane } from '../lanes.ts'
import { openTaskGate } from './open-gate.ts'

export interface TaskNotice {
  readonly name: string
  readonly queue: string
  /** The options of the task, as plain data. */
  readonly options: object
  /** JSON Schema of the payload, if the task's validator provides one. */
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
  // The tasks are published even if this fails: the sweep opens the gate later. It also continues where this stops, so that a
  // replica starts quickly, however many runs wait.
  await openTaskGate(
    db,
    tasks.map(({ name }) => name),
    batchesAtOnce,
  ).catch(() => [])
}

/** Lanes are created here, so that no producer has to create one inside its transaction. */
function requiresOf({ options }: TaskNotice): string[] {
  const requires: unknown = Reflect.get(options, 'requires')
  return Array.isArray(requires) ? requires.map(String) : []
}

export interface PublishedTask {
  readonly name: string
  readonly queue: string
  readonly onCrash: 'fail' | 'retry' | null
  /** The id of the replica that published it last. */
  readonly publishedBy: string
  /** As published by its replicas; another release may have more or fewer options. */
  readonly options: Readonly<Record<string, unknown>>
  /** JSON Schema of the payload, if there is one. */
  readonly payloadSchema: Readonly<Record<string, unknown>> | null
}

export async function publishedTasks(db: Db): Promise<PublishedTask[]> {
  return db
    .selectFrom('q.task')
    .select([
      'name',
      'queue',
      'published_by as publishedBy',
      sql<PublishedTask['onCrash']>`options->>'onCrash'`.as('onCrash'),
    ])
    .select(sql<PublishedTask['options']>`options`.as('options'))
    .select(sql<PublishedTask['payloadSchema']>`payload_schema`.as('payloadSchema'))
    .orderBy('name')
    .execute()
}
