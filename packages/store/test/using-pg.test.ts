/** A user's own client of pg, and the store inside the transaction that the user began on it. */
import { Client, Pool, types, type CustomTypesConfig } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { checkpointTaskRun, enqueueTaskRuns, finishTaskRun, usingPg, type NewRun, type PgClient } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, db, url, claim, claimOne, row } = await fixture()
const pool = new Pool({ connectionString: url })
const client = new Client({ connectionString: url })
await client.connect()
await client.query('CREATE TABLE effect (what text)')
afterAll(async () => {
  await client.end()
  await pool.end()
})

async function newRun(task: string, more: Partial<NewRun> = {}): Promise<NewRun> {
  return { task, lane: await store.internLane({ queue: 'default', task }), payload: { a: 1 }, ...more }
}

async function effects(): Promise<string[]> {
  const { rows } = await client.query<{ what: string }>('SELECT what FROM effect')
  return rows.map(({ what }) => what)
}

test('a run is visible with the commit of the user’s transaction, and not before', async () => {
  const run = await newRun('committed')
  await client.query('BEGIN')
  const [enqueued] = await enqueueTaskRuns(usingPg(client), [run])
  expect(enqueued).toMatchObject({ status: 'AVAILABLE', duplicate: false })
  expect(await claim('committed')).toEqual([])
  await client.query('COMMIT')
  expect(await claim('committed')).toMatchObject([{ runId: enqueued!.id, payload: '{"a": 1}' }])
})

test('a rollback leaves nothing', async () => {
  const run = await newRun('undone', { uniqueKey: 'k', uniqueForMs: 60_000 })
  await client.query('BEGIN')
  expect(await enqueueTaskRuns(usingPg(client), [run])).toMatchObject([{ duplicate: false }])
  await client.query('ROLLBACK')
  expect(await claim('undone')).toEqual([])
  expect(await store.enqueueTaskRuns([run])).toMatchObject([{ duplicate: false }])
})

test('a client of a pool stays checked out and usable, and its owner releases it', async () => {
  const run = await newRun('pooled')
  const own = await pool.connect()
  await own.query('BEGIN')
  await enqueueTaskRuns(usingPg(own), [run, run])
  expect({ total: pool.totalCount, idle: pool.idleCount }).toEqual({ total: 1, idle: 0 })
  await own.query('COMMIT')
  own.release()
  expect({ total: pool.totalCount, idle: pool.idleCount }).toEqual({ total: 1, idle: 1 })
  expect(await claim('pooled', 5)).toHaveLength(2)
})

test('only the user begins, commits or rolls back the transaction, and a large batch needs few statements', async () => {
  const run = await newRun('counted')
  const sent: string[] = []
  const spy: PgClient = {
    query(query) {
      sent.push(query.text)
      return client.query(query)
    },
  }
  const batch = Array.from({ length: 600 }, (_, number): NewRun => ({
    ...run,
    ...(number % 2 === 0 && { uniqueKey: `${number % 400}` }),
    ...(number % 3 === 0 && { concurrency: { scope: 'counted', key: `${number}` } }),
    ...(number % 8 === 0 && { uniqueForMs: 60_000 }),
  }))
  await client.query('BEGIN')
  const answers = await enqueueTaskRuns(usingPg(spy), batch)
  await client.query('COMMIT')
  expect(answers.filter(({ duplicate }) => duplicate)).toHaveLength(100)
  expect(sent).toHaveLength(3)
  expect(sent.filter((text) => /begin|commit|rollback|savepoint|advisory/i.test(text))).toEqual([])
})

test('a client outside a transaction is refused before anything is sent', async () => {
  const run = await newRun('outside')
  await expect(enqueueTaskRuns(usingPg(client), [run])).rejects.toMatchObject({ code: 'NOT_IN_TRANSACTION' })
  expect(await claim('outside')).toEqual([])
})

test('after a failed statement the user rolls back, and no run of the batch is inserted', async () => {
  const run = await newRun('failed')
  await client.query('BEGIN')
  await client.query('SAVEPOINT mine')
  await expect(enqueueTaskRuns(usingPg(client), [run, { ...run, payload: 1n }])).rejects.toMatchObject({
    code: 'PAYLOAD_NOT_JSON',
  })
  expect(client.getTransactionStatus()).toBe('T')
  await expect(client.query('SELECT 1 / 0')).rejects.toThrow('division by zero')
  await expect(enqueueTaskRuns(usingPg(client), [run])).rejects.toMatchObject({ code: '25P02' })
  await client.query('ROLLBACK TO mine')
  await enqueueTaskRuns(usingPg(client), [run])
  await client.query('COMMIT')
  expect(await claim('failed', 5)).toHaveLength(1)
})

test('ids are text, even with a client that reads bigint as number', async () => {
  const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid, format): unknown =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)
  const own = new Client({ connectionString: url, types: { getTypeParser } })
  await own.connect()
  const run = await newRun('numbers', { uniqueKey: 'k' })
  await own.query('BEGIN')
  const [one, same] = await enqueueTaskRuns(usingPg(own), [run, run])
  await own.query('COMMIT')
  expect((await own.query('SELECT 1::bigint AS one')).rows).toEqual([{ one: 1 }])
  await own.end()
  expect([typeof one!.id, same!.id]).toEqual(['string', one!.id])
})

test('the effect and the outcome of a run commit together, and its replica finds it settled', async () => {
  await store.enqueueTaskRuns([await newRun('exactly')])
  const lease = leaseOf(await claimOne('exactly'))
  await client.query('BEGIN')
  await client.query("INSERT INTO effect VALUES ('once')")
  expect(await checkpointTaskRun(usingPg(client), lease, '{"at":1}')).toBe('saved')
  expect(await finishTaskRun(usingPg(client), lease, { sum: 3 })).toBe('settled')
  expect(await row(lease.runId)).toMatchObject({ status: 'RUNNING' })
  await client.query('COMMIT')
  expect(await row(lease.runId)).toMatchObject({ status: 'SUCCEEDED', result: { sum: 3 }, checkpoint: { at: 1 } })
  expect(await effects()).toEqual(['once'])
  const outcome = { status: 'SUCCEEDED', result: '"from the runner"' } as const
  expect(await store.settleTaskRuns([{ lease, outcome, by }])).toEqual(['settled'])
  expect(await row(lease.runId)).toMatchObject({ result: { sum: 3 } })
})

test('after a rollback the run has neither effect nor outcome, and its replica settles it', async () => {
  await store.enqueueTaskRuns([await newRun('neither')])
  const lease = leaseOf(await claimOne('neither'))
  await client.query('BEGIN')
  await client.query("INSERT INTO effect VALUES ('never')")
  expect(await finishTaskRun(usingPg(client), lease, 1)).toBe('settled')
  await client.query('ROLLBACK')
  expect(await effects()).not.toContain('never')
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'it threw' } as const
  expect(await store.settleTaskRuns([{ lease, outcome, by }])).toEqual(['settled'])
  expect(await row(lease.runId)).toMatchObject({ status: 'FAILED' })
})

test('a lost lease settles nothing, so the code can roll back its effect', async () => {
  await store.enqueueTaskRuns([await newRun('lost')])
  const old = leaseOf(await claimOne('lost'))
  await store.releaseTaskRuns([old])
  const current = leaseOf(await claimOne('lost'))
  await client.query('BEGIN')
  await client.query("INSERT INTO effect VALUES ('of a zombie')")
  expect(await finishTaskRun(usingPg(client), old, 1)).toBe('lease-lost')
  await client.query('ROLLBACK')
  expect(await row(current.runId)).toMatchObject({ status: 'RUNNING', fence: current.fence })
  expect(await effects()).not.toContain('of a zombie')
  expect(await db.selectFrom('q.task_attempt').select('outcome').where('run_id', '=', old.runId).execute()).toEqual([
    { outcome: 'released' },
  ])
})
