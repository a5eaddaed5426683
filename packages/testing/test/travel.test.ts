/** travel() moves time for retries, delays, deadlines, periods, dead holders, retention and schedules. */
import { expect, test } from 'vitest'
import { connect, createStore, type NewRun, type Store } from '@q/store'
import { testDatabase, testQueue } from '@q/testing'
import { keyedByTime, shifted, fixed } from '../src/timestamp-columns.ts'
import { travel } from '../src/travel.ts'
import { sqlClient } from './sql-client.ts'
import * as tasks from './tasks/everyday.ts'

async function storeOf(url: string) {
  const connection = connect(url, { purpose: 'control' })
  return { store: createStore(connection.db), [Symbol.asyncDispose]: () => connection.close() }
}

async function enqueue(store: Store, run: Partial<NewRun>): Promise<void> {
  const lane = await store.internLane({ queue: 'default', task: 'hello' })
  await store.enqueueTaskRuns([{ task: 'hello', lane, payload: { name: 'Ada' }, ...run }])
}

test('every timestamp column of the schema is classified: moved, derived, or fixed for a reason', async () => {
  await using database = await testDatabase()
  await using client = await sqlClient(database.url)
  const columns = await client.ask(`SELECT c.table_name || '.' || c.column_name AS name, c.data_type AS type
    FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE table_schema = 'q' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
      AND (c.data_type LIKE 'timestamp%' OR c.data_type LIKE 'time %' OR c.data_type IN ('date', 'interval'))`)
  const named = (lists: typeof shifted) =>
    Object.entries(lists).flatMap(([table, names]) => names.map((name) => `${table}.${name}`))
  expect([...named(shifted), ...named(fixed)].toSorted()).toEqual(columns.map(({ name }) => String(name)).toSorted())
  expect(new Set(columns.map(({ type }) => type))).toEqual(new Set(['timestamp with time zone']))
})

test('only the listed tables have a timestamp in a unique key', async () => {
  await using database = await testDatabase()
  await using client = await sqlClient(database.url)
  const keyed =
    await client.ask(`SELECT DISTINCT t.relname AS name FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY(i.indkey)
    WHERE i.indisunique AND t.relnamespace = 'q'::regnamespace AND a.atttypid = 'timestamptz'::regtype`)
  expect(keyed.map(({ name }) => name)).toEqual(keyedByTime)
})

test('samples of a replica whose distance equals the travel time do not collide', async () => {
  await using database = await testDatabase()
  await using client = await sqlClient(database.url)
  await client.ask(`INSERT INTO q.replica_sample (replica_id, sampled_at, memory_mb, cpu_percent, active_runs, free_slots,
      completed, failed, health)
    SELECT 'one', timestamptz '2024-02-29 12:00Z' + n * interval '2 hours', 1, 1, 1, 1, 1, 1, 'healthy'
    FROM generate_series(0, 3) n`)
  await travel(database.url, '2h')
  const samples = await client.ask(`SELECT to_char(sampled_at AT TIME ZONE 'UTC', 'DD HH24:MI:SS.US') AS at
    FROM q.replica_sample ORDER BY sampled_at`)
  expect(samples.map(({ at }) => at)).toEqual(['10', '12', '14', '16'].map((hour) => `29 ${hour}:00:00.000000`))
})

test('a delayed run starts at its time, and not before', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.enqueue('hello', { name: 'Ada' }, { delay: '1d' })
  expect((await q.drain()).ran).toEqual([])
  await q.travel('23h')
  expect((await q.drain()).ran).toEqual([])
  await q.travel('1h')
  expect((await q.drain()).ran).toMatchObject([{ id: run.id, outcome: 'succeeded' }])
})

test('a run that was not started before its deadline expires', async () => {
  await using q = await testQueue({ tasks })
  await using other = await storeOf(q.url)
  await enqueue(other.store, { expiresInMs: 3_600_000 })
  await q.travel('2h')
  const { ran, expired } = await q.drain()
  expect(ran).toEqual([])
  expect(expired).toEqual((await q.enqueued()).map(({ id }) => id))
  expect(await q.enqueued()).toMatchObject([{ status: 'EXPIRED' }])
})

test('a unique key is free again after its period, whatever the outcome of the run', async () => {
  await using q = await testQueue({ tasks })
  const first = await q.enqueue('onceADay', { day: 'monday' })
  await q.drain()
  expect((await q.enqueue('onceADay', { day: 'monday' })).id).toBe(first.id)
  await q.travel('1d')
  expect((await q.enqueue('onceADay', { day: 'monday' })).id).not.toBe(first.id)
})

test('a run of a dead replica is recovered after its staleness threshold, as its task says', async () => {
  await using q = await testQueue({ tasks })
  for (const task of ['survivor', 'mortal'] as const) {
    await q.enqueue(task, {})
    await q.abandon(task)
  }
  expect(await q.drain()).toMatchObject({ ran: [], recovered: [] })
  await q.travel('2m')
  const { ran, recovered } = await q.drain()
  expect(recovered).toHaveLength(2)
  expect(ran).toMatchObject([{ task: 'survivor', attempt: 2, outcome: 'succeeded' }])
  const [mortal] = await q.enqueued('mortal')
  await expect(q.handle(mortal!.id).result({ timeout: '100s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
})

test('without a ready run, none can be abandoned', async () => {
  await using q = await testQueue({ tasks })
  await expect(q.abandon('mortal')).rejects.toMatchObject({ code: 'NOTHING_READY' })
})

test('travel() ages a run for retention and changes nothing else of its outcome', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.enqueue('hello', { name: 'Ada' })
  await q.drain()
  await q.travel('8d')
  expect(await run.result({ timeout: '100s' })).toBe('Hello, Ada!')
  await using other = await storeOf(q.url)
  expect(await other.store.pruneTaskRuns({ keepMs: 9 * 86_400_000, limit: 10 })).toMatchObject({ pruned: 0 })
  expect(await other.store.pruneTaskRuns({ keepMs: 7 * 86_400_000, limit: 10 })).toMatchObject({ pruned: 1 })
})

test('travel() brings the next tick of a schedule nearer', async () => {
  await using database = await testDatabase()
  await using client = await sqlClient(database.url)
  await client.ask(`INSERT INTO q.schedule (name, task, cron, last_tick, next_tick)
    VALUES ('daily', 'hello', '0 9 * * *', clock_timestamp() - interval '1 h', clock_timestamp() + interval '23 h')`)
  await travel(database.url, '1d')
  const due = `SELECT next_tick < clock_timestamp() AND last_tick < clock_timestamp() - interval '24 h' AS due FROM q.schedule`
  expect(await client.ask(due)).toEqual([{ due: true }])
})

test('the guard trigger is enabled again after travel()', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('hello', { name: 'Ada' })
  await q.drain()
  await q.travel('1d')
  await using client = await sqlClient(q.url)
  await expect(client.ask(`UPDATE q.task_run SET finished_at = now()`)).rejects.toMatchObject({ code: 'QS001' })
})

test('an invalid duration is rejected, also by the compiler', async () => {
  await using q = await testQueue({ tasks })
  // @ts-expect-error not a duration
  await expect(q.travel('two hours')).rejects.toMatchObject({ code: 'DURATION_INVALID' })
})

test('travel() reports an open transaction that blocks it', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('hello', { name: 'Ada' })
  await using client = await sqlClient(q.url)
  await client.ask(`BEGIN; UPDATE q.task_run SET priority = 1`)
  await expect(travel(q.url, '1h', { lockMs: 50 })).rejects.toMatchObject({ code: 'TRAVEL_BLOCKED' })
  await client.ask('ROLLBACK')
  await q.travel('1h')
})
