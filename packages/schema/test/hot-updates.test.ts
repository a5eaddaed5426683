/** Which changes leave every index alone (HOT): the ones that happen most often per run have to. */
import { afterAll, expect, test } from 'vitest'
import { changeRun, columnsOf, runIn } from './a-run.ts'
import { openDatabase } from './open-database.ts'

const database = await openDatabase()
const { client } = database
afterAll(() => database[Symbol.asyncDispose]())

test('starting a claimed run is a HOT update', async () => {
  const id = await runIn(client, 'CLAIMED', { unique_key: 'u', payload: '{"a": 1}' })
  const start = { ...columnsOf('RUNNING'), attempt: 1, started_at: new Date(), updated_at: new Date() }
  expect(await hotShare('q.task_run', () => changeRun(client, id, start))).toEqual({ updated: 1, hot: 1 })
})

test('a checkpoint is a HOT update', async () => {
  const id = await runIn(client, 'RUNNING')
  const save = () => changeRun(client, id, { checkpoint: '{"page": 2}', cancel_requested_at: new Date() })
  expect(await hotShare('q.task_run', save)).toEqual({ updated: 1, hot: 1 })
})

test('a heartbeat is a HOT update, of a run and of a replica', async () => {
  await client.query(`
    insert into q.task_heartbeat (run_id, role, fence, pid, sent_at, sender_id, hostname)
    values (1, 'runner', 1, 1, clock_timestamp(), 'r/1', 'h');
    insert into q.replica_heartbeat (replica_id, last_heartbeat) values ('r', clock_timestamp())`)
  const beatRun = () => client.query('update q.task_heartbeat set sent_at = clock_timestamp(), progress = 0.5')
  const beatReplica = () => client.query('update q.replica_heartbeat set last_heartbeat = clock_timestamp()')
  expect(await hotShare('q.task_heartbeat', beatRun)).toEqual({ updated: 1, hot: 1 })
  expect(await hotShare('q.replica_heartbeat', beatReplica)).toEqual({ updated: 1, hot: 1 })
})

/** Counted inside the transaction: statistics that other sessions see come later. */
async function hotShare(table: string, change: () => Promise<unknown>): Promise<{ updated: number; hot: number }> {
  await client.query('begin')
  const before = await counts(table)
  await change()
  const after = await counts(table)
  await client.query('commit')
  return { updated: after.updated - before.updated, hot: after.hot - before.hot }
}

async function counts(table: string): Promise<{ updated: number; hot: number }> {
  const { rows } = await client.query<{ updated: number; hot: number }>(
    `select pg_stat_get_xact_tuples_updated($1::regclass)::int as updated,
       pg_stat_get_xact_tuples_hot_updated($1::regclass)::int as hot`,
    [table],
  )
  return rows[0]!
}
