/**
 * Finds the runs that have the unique keys for which no run was inserted.
 *
 * During its period a key belongs to the run that took it, whatever the outcome of that run; otherwise it belongs to
 * the live run. If no run has it, the key was freed between the rejection and this read.
 */
import type { TaskState } from '@q/schema'
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { periodHolder } from './unique-period.ts'

export interface DedupKey {
  readonly task: string
  readonly key: string
}

export interface DuplicateRow {
  /** The number of the key, counted from 1. */
  readonly ordinal: number
  readonly id: RunId
  readonly status: TaskState
}

export async function findDuplicates(db: Db, keys: readonly DedupKey[]): Promise<DuplicateRow[]> {
  return keys.length === 0 ? [] : (await db.executeQuery(duplicatesStatement(keys))).rows
}

export function duplicatesStatement(keys: readonly DedupKey[]): CompiledQuery<DuplicateRow> {
  return duplicates({ tasks: keys.map(({ task }) => task), keys: keys.map(({ key }) => key) })
}

// Written in SQL: arrays in, two tables to search for each key.
const duplicates = prepared<{ readonly tasks: readonly string[]; readonly keys: readonly string[] }, DuplicateRow>(
  'duplicates',
  ({ tasks, keys }) => sql<DuplicateRow>`
WITH taken AS MATERIALIZED (
  SELECT wanted.ordinal, coalesce(
    (${periodHolder(sql.ref('wanted.task'), sql.ref('wanted.key'))}),
    (SELECT live.id FROM q.task_run live WHERE live.task = wanted.task AND live.unique_live = wanted.key)) AS id
  FROM unnest(${tasks}::text[], ${keys}::text[])
    WITH ORDINALITY AS wanted(task, key, ordinal)
)
SELECT taken.ordinal::int AS ordinal, r.id::text AS id, r.status::text AS status FROM taken JOIN q.task_run r ON r.id = taken.id`,
)
