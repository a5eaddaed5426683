/** Keys and windows of runs at the gate `task`: they count from the enqueue, and no run is lost or started twice. */
import { expect, test } from 'vitest'
import { enqueueTaskRuns, promoteKeys, usingPg } from '@q/store'
import { hour, taskGateFixture } from './task-gate-fixture.ts'

const { store, db, row, publish, enqueueOne, age, session } = await taskGateFixture()

const duplicate = { status: 'SKIPPED', result: { code: 'DUPLICATE' } }

test('runs of one concurrency key start one after the other, although they were enqueued before the publication', async () => {
  const [first, second] = await store.enqueueTaskRuns([
    { task: 'keyed', payload: { k: 'a' } },
    { task: 'keyed', payload: { k: 'a' } },
  ])
  await publish('keyed', { concurrency: { key: '/k', limit: 1, shared: null } })
  expect(await row(first!.id)).toMatchObject({ status: 'AVAILABLE', concurrency_slot: 1 })
  expect(await row(second!.id)).toMatchObject({ status: 'PENDING', waiting_for: 'concurrency' })
})

test('a run whose unique key another live run has by then ends SKIPPED as a duplicate', async () => {
  const [first, second, other] = await store.enqueueTaskRuns(
    ['a', 'a', 'b'].map((id) => ({ task: 'unique', payload: { id } })),
  )
  await publish('unique', { unique: { key: '/id', forMs: null } })
  expect(await row(first!.id)).toMatchObject({ status: 'AVAILABLE', unique_key: 'a' })
  expect(await row(second!.id)).toMatchObject(duplicate)
  expect(await row(other!.id)).toMatchObject({ status: 'AVAILABLE', unique_key: 'b' })
})

test('a unique key that is taken for a period, or throttled, counts from the enqueue', async () => {
  for (const law of ['unique', 'throttle']) {
    const task = `period-${law}`
    const runs = await store.enqueueTaskRuns(Array.from({ length: 3 }, () => ({ task, payload: { id: 'a' } })))
    const [first, within, after] = runs.map(({ id }) => id)
    await age(first!, 3 * hour)
    await age(within!, 2.5 * hour)
    await age(after!, 0.5 * hour)
    await publish(task, { [law]: { key: '/id', forMs: hour } })
    expect(await row(first!)).toMatchObject({ status: 'AVAILABLE' })
    expect(await row(within!)).toMatchObject(duplicate)
    // Its window has passed; of a unique key the first run is still live.
    expect(await row(after!)).toMatchObject(law === 'unique' ? duplicate : { status: 'AVAILABLE' })
  }
})

test('of debounced runs the last one within a window counts, under the id of the first', async () => {
  const runs = await store.enqueueTaskRuns([1, 2, 3].map((n) => ({ task: 'debounced', payload: { id: 'a', n } })))
  const [first, within, alone] = runs.map(({ id }) => id)
  await age(first!, 5 * hour)
  await age(within!, 4.5 * hour)
  await publish('debounced', { debounce: { key: '/id', forMs: hour, maxMs: 10 * hour } })
  expect(await row(first!)).toMatchObject({ waiting_for: 'time', payload: { n: 2 } })
  expect(await row(within!)).toMatchObject(duplicate)
  expect(await row(alone!)).toMatchObject({ waiting_for: 'time', payload: { n: 3 } })
  const lane = await store.internLane({ queue: 'default', task: 'debounced' })
  const debounce = { key: 'a', forMs: hour, maxMs: 10 * hour }
  expect(await enqueueOne('debounced', { n: 4 }, { lane, debounce })).toMatchObject({ id: alone, duplicate: true })
})

test('a debounce of the enqueue itself applies while the run waits for its task', async () => {
  const debounce = { key: 'own', forMs: hour, maxMs: 10 * hour }
  const first = await enqueueOne('own-debounce', { n: 1 }, { debounce })
  expect(await enqueueOne('own-debounce', { n: 2 }, { debounce })).toMatchObject({ id: first.id, duplicate: true })
  await db.insertInto('q.task').values({ name: 'own-debounce', queue: 'default', published_by: 'r' }).execute()
  const lane = await store.internLane({ queue: 'default', task: 'own-debounce' })
  expect(await enqueueOne('own-debounce', { n: 3 }, { lane, debounce })).toMatchObject({
    id: first.id,
    duplicate: true,
  })
  expect(await row(first.id)).toMatchObject({ waiting_for: 'time', asked: null, lane, payload: { n: 3 } })
})

test('a unique key or a throttle of the enqueue itself applies while the run waits for its task', async () => {
  for (const law of [
    { uniqueKey: 'k', uniqueForMs: hour },
    { uniqueKey: 'l' },
    { throttle: { key: 'k', forMs: hour } },
  ]) {
    const { id } = await enqueueOne('own-law', {}, law)
    expect(await enqueueOne('own-law', {}, law)).toMatchObject({ id, duplicate: true })
  }
})

test('a run whose unique key an open transaction has is left to a later sweep', async () => {
  const [first, second] = await store.enqueueTaskRuns([
    { task: 'contended', payload: { id: 'taken' } },
    { task: 'contended', payload: { id: 'free' } },
  ])
  const client = await session()
  await client.query('BEGIN')
  const lane = await store.internLane({ queue: 'default', task: 'contended' })
  await enqueueTaskRuns(usingPg(client), [{ task: 'contended', lane, payload: {}, uniqueKey: 'taken' }])
  await publish('contended', { unique: { key: '/id', forMs: null } })
  expect(await row(first!.id)).toMatchObject({ waiting_for: 'task' })
  expect(await row(second!.id)).toMatchObject({ status: 'AVAILABLE' })
  await client.query('ROLLBACK')
  await store.sweepTaskGate()
  expect(await row(first!.id)).toMatchObject({ status: 'AVAILABLE', unique_key: 'taken' })
})

test('a keyed run of a task that was published before its producer knew is promoted after its commit', async () => {
  const task = 'published-in-between'
  await publish(task, { concurrency: { key: '/k', limit: 1, shared: null } })
  expect(await enqueueOne(task, { k: 'a' })).toMatchObject({ status: 'AVAILABLE' })
})

test('a concurrency key that an open transaction has locked does not keep the gate closed for other runs', async () => {
  const task = 'locked-key'
  const runs = await store.enqueueTaskRuns(['held', 'free'].map((k) => ({ task, payload: { k } })))
  const other = await session()
  await other.query('BEGIN')
  await promoteKeys(usingPg(other), [`${task}\u001fheld`])
  await publish(task, { concurrency: { key: '/k', limit: 1, shared: null } })
  expect(await Promise.all(runs.map(async ({ id }) => (await row(id)).status))).toEqual(['PENDING', 'AVAILABLE'])
  await other.query('ROLLBACK')
  await store.promoteKeys([`${task}\u001fheld`])
  expect(await row(runs[0]!.id)).toMatchObject({ status: 'AVAILABLE' })
})
