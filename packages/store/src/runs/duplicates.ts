/**
 * Runs that were not made because their unique key is taken: who has it?
 *
 * For its period the key is the run's that took it first, whatever became of it; else it is the live run's. Nobody:
 * it was freed between the refusal and this look.
 */
import type { TaskState } from '@q/schema'
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../prepared.ts'
import { periodHolder } from './unique-period.ts'

export interface TakenKey {
  readonly task: string
  readonly key: string
}

export interface KeyHolderRow {
  /** Which of the keys, counted from 1. */
  readonly place: number
  readonly id: RunId
  readonly status: TaskState
}

export async function findDuplicates(db: Db, keys: readonly TakenKey[]): Promise<KeyHolderRow[]> {
  return keys.length === 0 ? [] : (await db.executeQuery(duplicatesStatement(keys))).rows
}

export function duplicatesStatement(keys: readonly TakenKey[]): CompiledQuery<KeyHolderRow> {
  return duplicates({ tasks: keys.map(({ task }) => task), keys: keys.map(({ key }) => key) })
}

// A whole statement by hand: arrays in, two places to look for each.
const duplicates = prepared<{ readonly tasks: readonly string[]; readonly keys: readonly string[] }, KeyHolderRow>(
  'duplicates',
  ({ tasks, keys }) => sql<KeyHolderRow>`
WITH taken AS MATERIALIZED (
  SELECT wanted.place, coalesce(
    (${periodHolder(sql.ref('wanted.task'), sql.ref('wanted.key'))}),
    (SELECT live.id FROM q.task_run live WHERE live.task = wanted.task AND live.unique_live = wanted.key)) AS id
  FROM unnest(${tasks}::text[], ${keys}::text[])
    WITH ORDINALITY AS wanted(task, key, place)
)
SELECT taken.place::int AS place, r.id::text AS id, r.status::text AS status FROM taken JOIN q.task_run r ON r.id = taken.id`,
)
