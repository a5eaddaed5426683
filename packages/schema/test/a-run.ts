/** Runs in any state, made the legal way by plain SQL, so that the tests ask only the database. */
import type { Client } from 'pg'
import { isTerminal, type TaskState } from '@q/schema'

/** The columns of q.task_run the tests set; all of them, so that what a state demands is visible. */
export interface RunColumns {
  readonly status: TaskState
  readonly waiting_for: string | null
  readonly replica_id: string | null
  readonly finished_at: Date | null
  readonly result: string | null
}

/** What a row of this state has to look like; the guard, not a CHECK, then decides about the change. */
export function columnsOf(status: TaskState): RunColumns {
  const bare = { status, waiting_for: null, replica_id: null, finished_at: null, result: null }
  if (status === 'PENDING') return { ...bare, waiting_for: 'time' }
  if (status === 'AVAILABLE') return bare
  if (!isTerminal(status)) return { ...bare, replica_id: 'replica-1' }
  const result = status === 'SUCCEEDED' ? '1' : '{"code": "TASK_ERROR", "detail": "made by a test"}'
  return { ...bare, replica_id: 'replica-1', finished_at: aMoment(), result }
}

/** Never the same twice: two ends are two different ends. */
function aMoment(): Date {
  return new Date(moment++)
}
let moment = Date.UTC(2030, 0)

/** Returns its id. */
export async function runIn(client: Client, state: TaskState, extra: Extra = {}): Promise<string> {
  const [first, ...rest] = wayTo[state]
  const id = await insertRun(client, { ...columnsOf(first), ...extra })
  for (const step of rest) await changeRun(client, id, columnsOf(step))
  return id
}

export async function insertRun(client: Client, columns: Extra): Promise<string> {
  const row = { lane: 1, task: 'hello', ...columns }
  const places = Object.keys(row).map((_, index) => `$${index + 1}`)
  const inserted = await client.query<{ id: string }>(
    `insert into q.task_run (${Object.keys(row).join(', ')}) values (${places.join(', ')}) returning id`,
    Object.values(row),
  )
  return inserted.rows[0]!.id
}

export async function changeRun(client: Client, id: string, columns: Extra): Promise<void> {
  const settings = Object.keys(columns).map((name, index) => `${name} = $${index + 2}`)
  await client.query(`update q.task_run set ${settings.join(', ')} where id = $1`, [id, ...Object.values(columns)])
}

export async function rowOf(client: Client, id: string): Promise<Row> {
  return (await rowsOf(client, [id]))[0]!
}

export async function rowsOf(client: Client, ids: readonly string[]): Promise<Row[]> {
  const found = await client.query<{ row: Row }>(
    'select to_jsonb(r) as row from q.task_run r where id = any ($1) order by id',
    [ids],
  )
  return found.rows.map(({ row }) => row)
}

export type Row = Record<string, unknown>

export type Extra = Readonly<Record<string, unknown>> | RunColumns

const wayTo: Record<TaskState, readonly [TaskState, ...TaskState[]]> = {
  PENDING: ['PENDING'],
  AVAILABLE: ['AVAILABLE'],
  CLAIMED: ['AVAILABLE', 'CLAIMED'],
  RUNNING: ['AVAILABLE', 'RUNNING'],
  SUCCEEDED: ['AVAILABLE', 'RUNNING', 'SUCCEEDED'],
  FAILED: ['AVAILABLE', 'FAILED'],
  CANCELLED: ['AVAILABLE', 'CANCELLED'],
  EXPIRED: ['AVAILABLE', 'EXPIRED'],
  SKIPPED: ['AVAILABLE', 'SKIPPED'],
}
