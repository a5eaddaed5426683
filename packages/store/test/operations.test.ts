/** Operations on all runs that match: what they touch, and what a death, a race or a lost answer does to them. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, type RunFilter, type RunId, type Store } from '@q/store'
import { cuttingProxy } from './cutting-proxy.ts'
import { leaseOf, by } from './fixture.ts'
import { operationFixture } from './operation-fixture.ts'
import { failed } from './workflow-fixture.ts'

const scene = await operationFixture()

const { db, store, another, enqueue, claim, row, url, toEnd, epochs } = scene

const lease = { holder: 'r1', forMs: 60_000 }

/** Runs of the task that have failed. */
async function failing(task: string, count: number): Promise<RunId[]> {
  const ids = await enqueue(task, { count })
  await fail(task, count)
  return ids
}

async function fail(task: string, count: number): Promise<void> {
  const runs = await claim(task, count)
  await store.settleTaskRuns(runs.map((run) => ({ lease: leaseOf(run), outcome: failed, by })))
}

/** The replica that held it has died: its lease has run out. */
async function leaseRunsOut(): Promise<void> {
  await sql`UPDATE q.operation SET leased_until = clock_timestamp() WHERE finished_at IS NULL`.execute(db)
}

test('a preview counts the runs that an operation would change, and changes nothing', async () => {
  const ids = await failing('previewed', 5)
  await enqueue('previewed', { count: 2 })
  const { match, samples } = await store.previewOperation('retry', { task: 'previewed' })
  expect(match).toEqual({ count: 5, atLeast: false })
  expect(samples.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 3))
  expect((await store.previewOperation('cancel', { task: 'previewed' })).match.count).toBe(2)
  expect(await epochs('previewed')).toEqual({ 'FAILED 1': 5, 'AVAILABLE 1': 2 })
})

test('a retry opens a new epoch of every failed run, and counts each result', async () => {
  await failing('retried', 7)
  await enqueue('retried', { count: 1 })
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'retried' }, by: 'ada' })
  expect(asked).toMatchObject({ state: 'waiting', kind: 'retry', askedBy: 'ada', looked: 0, leasedBy: null })
  const first = await store.stepOperations({ ...lease, runsMax: 3 })
  expect(first.worked).toMatchObject({ id: asked.id, state: 'running', looked: 3, changed: 3, leasedBy: 'r1' })
  const done = await toEnd(store, asked)
  expect(done).toMatchObject({
    state: 'done',
    looked: 7,
    changed: 7,
    answers: { retried: 7 },
    lookedBackTo: null,
    leasedBy: null,
  })
  expect(await epochs('retried')).toEqual({ 'AVAILABLE 2': 7, 'AVAILABLE 1': 1 })
  expect(await store.stepOperations(lease)).toEqual({ worked: undefined })
})

test('runs that are enqueued or fail after the request are not touched', async () => {
  await enqueue('later', { count: 2 })
  await fail('later', 1)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'later' }, by: 'ada' })
  await fail('later', 1)
  await failing('later', 3)
  expect(await toEnd(store, asked)).toMatchObject({ looked: 1, changed: 1 })
  expect(await epochs('later')).toEqual({ 'AVAILABLE 2': 1, 'FAILED 1': 4 })
})

test('runs that failed in the millisecond of the request, but before it, are retried', async () => {
  const [id] = await failing('moment', 1)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'moment' }, by: 'ada' })
  await sql`UPDATE q.operation SET asked_at = (SELECT finished_at + interval '1 us' FROM q.task_run WHERE id = ${id!})
    WHERE id = ${asked.id}`.execute(db)
  expect(await toEnd(store, asked)).toMatchObject({ looked: 1, changed: 1 })
})

test('a run that fails again during the operation is not retried a second time', async () => {
  await failing('again', 4)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'again' }, by: 'ada' })
  await store.stepOperations({ ...lease, runsMax: 2 })
  await fail('again', 2)
  await toEnd(store, asked)
  expect(await epochs('again')).toEqual({ 'FAILED 2': 2, 'AVAILABLE 2': 2 })
})

test('10 000 runs are retried exactly once although the executing replica dies twice', async () => {
  const count = 10_000
  await enqueue('many', { count })
  await sql`UPDATE q.task_run SET status = 'FAILED', finished_at = clock_timestamp(), result = '{"code":"TASK_ERROR"}'
    WHERE task = 'many'`.execute(db)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'many' }, by: 'ada' })
  const proxy = await cuttingProxy(url)
  for (const holder of ['first', 'second']) {
    const connection = connect(proxy.url, { purpose: 'pool' })
    const dying = createStore(connection.db)
    for (let round = 0; round < 5; round++) await dying.stepOperations({ holder, forMs: 60_000, runsMax: 200 })
    // It dies between its commit and the answer.
    proxy.cutAfter('commit')
    await expect(dying.stepOperations({ holder, forMs: 60_000, runsMax: 200 })).rejects.toThrow(/connection/i)
    await connection.close()
    const { worked, leasedForMs } = await store.stepOperations({ ...lease, holder: 'other' })
    expect(worked).toBeUndefined()
    expect(leasedForMs).toBeGreaterThan(0)
    await leaseRunsOut()
  }
  const done = await toEnd(store, asked, 'third', 1_000)
  expect(done).toMatchObject({ looked: count, changed: count, answers: { retried: count } })
  expect(await epochs('many')).toEqual({ 'AVAILABLE 2': count })
  await sql`DELETE FROM q.task_run WHERE task = 'many'`.execute(db)
})

test('a failed step leaves neither effects nor progress', async () => {
  await failing('atomic', 2)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'atomic' }, by: 'ada' })
  await sql`CREATE FUNCTION refuse_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$`.execute(
    db,
  )
  await sql`CREATE TRIGGER refuse_step BEFORE UPDATE ON q.operation FOR EACH ROW EXECUTE FUNCTION refuse_step()`.execute(
    db,
  )
  await expect(store.stepOperations(lease)).rejects.toThrow('no')
  await sql`DROP FUNCTION refuse_step() CASCADE`.execute(db)
  expect(await epochs('atomic')).toEqual({ 'FAILED 1': 2 })
  expect(await store.getOperation(asked.id)).toMatchObject({ state: 'waiting', looked: 0 })
  await toEnd(store, asked)
  expect(await epochs('atomic')).toEqual({ 'AVAILABLE 2': 2 })
})

test('two replicas at once execute every step once, each for a different operation', async () => {
  await failing('shared', 300)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'shared' }, by: 'ada' })
  const steps = async (on: Store, holder: string) => {
    for (let round = 0; round < 5_000; round++) {
      await on.stepOperations({ holder, forMs: 0, runsMax: 10 })
      if ((await on.getOperation(asked.id))?.state === 'done') return
    }
  }
  await Promise.all([steps(another(), 'one'), steps(another(), 'two')])
  const done = await store.getOperation(asked.id)
  expect(done).toMatchObject({ state: 'done', looked: 300, changed: 300, answers: { retried: 300 } })
  expect(await epochs('shared')).toEqual({ 'AVAILABLE 2': 300 })
})

test('a run that the database refuses, or that another transaction has locked, holds up no other', async () => {
  const [locked, taken, plain] = await failing('stuck', 3)
  await sql`UPDATE q.task_run SET unique_key = 'k' WHERE id = ${taken}`.execute(db)
  const [live] = await enqueue('stuck', { uniqueKey: 'k' })
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'stuck' }, by: 'ada' })
  await db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.task_run WHERE id = ${locked} FOR UPDATE`.execute(trx)
    const done = await toEnd(another(), asked)
    expect(done).toMatchObject({ looked: 3, changed: 1, answers: { retried: 1, refused: 1, busy: 1 } })
  })
  expect((await row(plain!)).status).toBe('AVAILABLE')
  expect((await row(live!)).epoch).toBe(1)
})

test('a stop ends an operation between two steps; its changes stay', async () => {
  await failing('stopped', 5)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'stopped' }, by: 'ada' })
  await store.stepOperations({ ...lease, runsMax: 2 })
  expect(await store.stopOperation(asked.id)).toBe('stopping')
  expect(await store.getOperation(asked.id)).toMatchObject({ state: 'stopping' })
  expect((await store.stepOperations(lease)).worked).toMatchObject({ state: 'stopped', changed: 2 })
  expect(await store.stopOperation(asked.id)).toBe('ended')
  expect(await store.stopOperation('999999')).toBe('not-found')
  expect(await epochs('stopped')).toEqual({ 'AVAILABLE 2': 2, 'FAILED 1': 3 })
})

test('a stop ends an operation that no replica executes at once', async () => {
  const asked = await store.requestOperation({ kind: 'cancel', filter: { task: 'none' }, by: 'ada' })
  expect(await store.stopOperation(asked.id)).toBe('stopping')
  expect(await store.getOperation(asked.id)).toMatchObject({ state: 'stopped' })
})

test('the filter is stored as data and applies unchanged', async () => {
  await failing('filtered', 2)
  const createdBefore = new Date(Date.now() + 3_600_000)
  const asked = await store.requestOperation({
    kind: 'retry',
    filter: { task: 'filtered', status: ['failed'], createdBefore },
    by: 'ada',
  })
  expect(asked.filter).toEqual({ task: 'filtered', status: ['FAILED'], createdBefore: createdBefore.toISOString() })
  expect(await toEnd(store, asked)).toMatchObject({ changed: 2 })
  await expect(
    store.requestOperation({ kind: 'retry', filter: { tsak: 'x' } as RunFilter, by: 'ada' }),
  ).rejects.toMatchObject({ code: 'FILTER_INVALID' })
})

test('operations are listed newest first, in pages', async () => {
  const asked = [1, 2, 3].map(() => store.requestOperation({ kind: 'cancel', filter: { task: 'none' }, by: 'ada' }))
  const ids = (await Promise.all(asked)).map(({ id }) => id).toSorted((a, b) => Number(b) - Number(a))
  onTestFinished(async () => void (await Promise.all(ids.map((id) => store.stopOperation(id)))))
  const page = await store.listOperations({ limit: 2 })
  const rest = await store.listOperations({ limit: 1, cursor: page.next! })
  expect([...page.items, ...rest.items].map(({ id }) => id)).toEqual(ids)
  await expect(store.listOperations({ cursor: 'x' })).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
})

test('a step that searches payloads, which may be large, reads fewer runs, and the steps together read all', async () => {
  const [first] = await enqueue('searched', { count: 1, payload: { text: 'needle' } })
  await enqueue('searched', { count: 2_500 })
  const filter = { task: 'searched', payload: 'text~needle' }
  const asked = await store.requestOperation({ kind: 'cancel', filter, by: 'ada' })
  const { worked } = await store.stepOperations(lease)
  expect(worked).toMatchObject({ id: asked.id, state: 'running', looked: 0 })
  expect(BigInt(worked!.lookedBackTo!)).toBeGreaterThan(BigInt(first!) + 400n)
  expect(await toEnd(store, asked)).toMatchObject({ looked: 1, changed: 1 })
})
