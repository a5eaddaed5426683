/** The guard and the CHECK of q.task_run are short; these tests compare them with the full rules. */
import { afterAll, expect, test } from 'vitest'
import { isTerminal, taskStates } from '@q/schema'
import { illegalChange, unusualChange } from '../src/guard.ts'
import { usualChanges } from '../src/task-states.ts'
import { openDatabase } from './open-database.ts'

const database = await openDatabase()
const { client } = database
afterAll(() => database[Symbol.asyncDispose]())

/** Conditions as PostgreSQL writes them. */
async function written(conditions: readonly string[]): Promise<string[]> {
  await client.query('BEGIN')
  for (const [at, condition] of conditions.entries()) {
    await client.query(`CREATE TRIGGER written_${at} AFTER UPDATE ON q.task_run FOR EACH ROW
      WHEN (${condition}) EXECUTE FUNCTION q.refuse_change()`)
  }
  const { rows } = await client.query<{ definition: string }>(
    `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE tgname LIKE 'written_%' ORDER BY tgname`,
  )
  await client.query('ROLLBACK')
  return rows.map(({ definition }) => /WHEN (.*) EXECUTE/s.exec(definition)?.[1] ?? '')
}

async function textOf(query: string): Promise<string> {
  return (await client.query<{ text: string }>(`SELECT ${query} AS text`)).rows[0]!.text
}

test('the guard in the database follows from the table of states: a short condition, and the full rule', async () => {
  const trigger = await textOf(`pg_get_triggerdef((SELECT oid FROM pg_trigger WHERE tgname = 'task_run_guard'))`)
  const source = await textOf(`(SELECT prosrc FROM pg_proc WHERE oid = 'q.guard_change'::regproc)`)
  const law = /IF \((.*)\) THEN/s.exec(source)?.[1] ?? ''
  const [short, wholeLaw, there] = await written([unusualChange(), illegalChange(), law])
  expect(trigger).toContain(`WHEN ${short} EXECUTE FUNCTION q.guard_change()`)
  expect(there).toBe(wholeLaw)
})

test('the short condition accepts no illegal change, for any combination of states and counts', async () => {
  const states = taskStates.map((state) => `('${state}'::q.task_status, ${isTerminal(state) ? 'now()' : 'NULL'})`)
  const { rows } = await client.query<{ change: string; legal: boolean; count: number }>(`
    WITH run AS MATERIALIZED (
      SELECT status, finished_at::timestamptz, fence, attempt, crash_count, epoch,
        NULL::jsonb AS result, NULL::text AS replica_id, ''::text AS task, '{}'::jsonb AS payload
      FROM (VALUES ${states.join(', ')}) state(status, finished_at), generate_series(1, 3) fence, generate_series(0, 2) attempt,
        generate_series(0, 1) crash_count, generate_series(1, 2) epoch
    )
    SELECT old.status || ' ' || new.status AS change, NOT (${illegalChange()}) AS legal, count(*)::int
    FROM run old CROSS JOIN run new WHERE NOT (${unusualChange()}) GROUP BY 1, 2`)
  // Of 3 fences and 3 attempts 2 can rise by one; times 2 crash counts and 2 epochs.
  expect(new Map(rows.map(({ change, legal, count }) => [change, { legal, count }]))).toEqual(
    new Map([
      ['AVAILABLE RUNNING', { legal: true, count: 16 }],
      ['RUNNING SUCCEEDED', { legal: true, count: 36 }],
    ]),
  )
  expect(usualChanges).toHaveLength(rows.length)
})

/** The rules of docs/reference/states.md, each by itself. */
const rules = [
  'fence >= 0 AND attempt >= 0 AND crash_count >= 0 AND epoch >= 1 AND max_attempts >= 1',
  'concurrency_slot >= 1',
  '(concurrency_key IS NULL) = (concurrency_scope IS NULL)',
  `(concurrency_slot IS NOT NULL) = (concurrency_key IS NOT NULL AND status IN ('AVAILABLE', 'CLAIMED', 'RUNNING'))`,
  `CASE WHEN status IN ('PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING') THEN finished_at IS NULL ELSE finished_at IS NOT NULL END`,
  `status IN ('PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING', 'SUCCEEDED') OR (jsonb_typeof(result -> 'code') = 'string') IS TRUE`,
  `status NOT IN ('CLAIMED', 'RUNNING') OR replica_id IS NOT NULL`,
  `status <> 'PENDING' OR waiting_for IS NOT NULL`,
  `status <> 'AVAILABLE' OR waiting_for IS NULL`,
  `waiting_for IN ('parents', 'workflow', 'task', 'time', 'concurrency')`,
  `waiting_for <> 'task' OR asked IS NOT NULL`,
]

const columns = {
  status: taskStates.map((state) => `'${state}'::q.task_status`),
  waiting_for: ['NULL', `'parents'`, `'workflow'`, `'task'`, `'time'`, `'concurrency'`, `'godot'`],
  asked: ['NULL', `'{}'::jsonb`],
  finished_at: ['NULL', 'now()'],
  replica_id: ['NULL', `'r'`],
  result: ['NULL', `'{"code": "TIMEOUT"}'::jsonb`, `'{"code": null}'`, `'["code"]'`],
  concurrency_key: ['NULL', `'k'`],
  concurrency_scope: ['NULL', `'s'`],
  concurrency_slot: ['NULL::smallint', '0', '1'],
}

test('the one CHECK accepts a row if and only if all rules do', async () => {
  const check = await textOf(
    `pg_get_constraintdef((SELECT oid FROM pg_constraint WHERE conname = 'run_is_consistent'))`,
  )
  const counts = ['fence', 'attempt', 'crash_count', 'epoch', 'max_attempts']
  const wrongCounts = [
    '(0, 0, 0, 1, 1)',
    ...counts.map((_, at) => `(${counts.map((__, of) => (of === at ? -1 : 1)).join(', ')})`),
  ]
  const values = Object.entries(columns).map(([name, list]) => `(VALUES (${list.join('), (')})) of_${name}(${name})`)
  const accepted = (condition: string) => `(${condition}) IS NOT FALSE`
  const { rows } = await client.query<{ agree: boolean; accepts: boolean; count: number }>(`
    SELECT ${accepted(check.replace(/^CHECK /, ''))} = (${rules.map(accepted).join(' AND ')}) AS agree,
      ${rules.map(accepted).join(' AND ')} AS accepts, count(*)::int
    FROM ${values.join(', ')}, (VALUES ${wrongCounts.join(', ')}) of_counts(${counts.join(', ')}) GROUP BY 1, 2`)
  expect(rows.map(({ agree }) => agree)).toEqual([true, true])
  expect(new Set(rows.map(({ accepts }) => accepts))).toEqual(new Set([true, false]))
})
