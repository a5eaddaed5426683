/** Debounced enqueues in transactions and at the same time. */
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { enqueueTaskRuns, usingPg } from '@q/store'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { debounceFixture } from './debounce-fixture.ts'

const { url, store, db, another, row, run, enqueueOne, runsOf } = await debounceFixture()

test('parallel enqueues of many processes insert one run with one of their payloads', async () => {
  const stores = Array.from({ length: 6 }, () => another())
  for (let round = 0; round < 10; round++) {
    const key = `parallel ${round}`
    const answers = await Promise.all(stores.map((own, n) => enqueueOne(run(key, n, { trace: key }), own)))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(await runsOf(key)).toHaveLength(1)
  }
})

test('batches with the same keys in any order wait for each other and do not deadlock', async () => {
  const stores = Array.from({ length: 4 }, () => another())
  const keys = Array.from({ length: 30 }, (_, n) => `circle ${n}`)
  for (let round = 0; round < 5; round++) {
    const orders = stores.map((own, n) => ({
      own,
      batch: keys.toSorted(() => Math.random() - 0.5).map((key) => run(key, n)),
    }))
    const answers = await Promise.all(orders.map(({ own, batch }) => own.enqueueTaskRuns(batch)))
    expect(new Set(answers.flat().map(({ id }) => id)).size).toBe(30)
  }
})

test('a debounce in a transaction commits with it; a concurrent enqueue waits for it and counts', async () => {
  const first = await enqueueOne(run('tx', 1))
  const over = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const inside = db.transaction().execute(async (trx) => {
    expect(await enqueueTaskRuns(trx, [run('tx', 2)])).toMatchObject([{ id: first.id, duplicate: true }])
    begun.resolve()
    await over.promise
  })
  await begun.promise
  const inBetween = enqueueOne(run('tx', 3), another())
  await untilSomebodyWaits(db)
  over.resolve()
  await inside
  expect(await inBetween).toMatchObject({ id: first.id, duplicate: true })
  expect((await row(first.id)).payload).toEqual({ n: 3 })
})

test('on a client of the caller the debounce is part of the caller’s transaction', async () => {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const first = await enqueueOne(run('pg', 1))
  await client.query('BEGIN')
  const inside = await enqueueTaskRuns(usingPg(client), [run('pg', 2), run('pg too', 2)])
  expect(inside).toMatchObject([{ id: first.id, duplicate: true }, { duplicate: false }])
  expect((await row(first.id)).payload).toEqual({ n: 1 })
  await client.query('COMMIT')
  expect((await row(first.id)).payload).toEqual({ n: 2 })
})

test('a transaction that is rolled back leaves the payload and the time as they were', async () => {
  const first = await enqueueOne(run('undone', 1))
  const before = await row(first.id)
  const undone = db.transaction().execute(async (trx) => {
    await enqueueTaskRuns(trx, [run('undone', 2), run('undone too', 2)])
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await row(first.id)).toEqual(before)
  expect(await enqueueOne(run('undone too', 3))).toMatchObject({ duplicate: false })
})

test('a debounce that races with a promotion either changes the run or leaves it alone', async () => {
  const own = another()
  for (let round = 0; round < 20; round++) {
    const key = `gate ${round}`
    const first = await enqueueOne(run(key, 1, { trace: key, debounce: { key, forMs: 3, maxMs: 3_000 } }))
    const [second] = await Promise.all([enqueueOne(run(key, 2, { trace: key }), own), store.promoteDueTaskRuns(100)])
    const runs = await runsOf(key)
    // Either one run that waits anew with the new payload, or the first as it was and a second one.
    expect(runs.map(({ payload }) => payload.n)).toEqual(second.id === first.id ? [2] : [1, 2])
    expect(runs.at(-1)).toMatchObject({ status: 'PENDING' })
  }
})
