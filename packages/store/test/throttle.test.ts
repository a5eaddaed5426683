import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun } from '@q/store'
import { fixture } from './fixture.ts'

const { store, db, another } = await fixture()
const lane = await store.internLane({ queue: 'default', task: 'throttled' })
const hour = 3_600_000

function run(key: string, more: Partial<NewRun> = {}): NewRun {
  return { task: 'throttled', lane, payload: {}, throttle: { key, forMs: hour }, ...more }
}

async function enqueueOne(wanted: NewRun): Promise<EnqueuedRun> {
  return (await store.enqueueTaskRuns([wanted]))[0]!
}

/** As if the window had begun so much earlier. */
async function age(ms: number): Promise<void> {
  await sql`UPDATE q.unique_period SET until = until - ${ms} * interval '1 ms'`.execute(db)
}

test('the first enqueue in a window counts; later ones return its run, even after it has ended', async () => {
  const first = await enqueueOne(run('a'))
  expect(first).toMatchObject({ status: 'AVAILABLE', duplicate: false })
  expect(await enqueueOne(run('a'))).toEqual({ ...first, duplicate: true })
  await store.cancelTaskRuns([first.id])
  expect(await enqueueOne(run('a'))).toMatchObject({ id: first.id, status: 'CANCELLED', duplicate: true })
})

test('after the window the next enqueue counts, even while the first run still waits, unlike with a unique key', async () => {
  const first = await enqueueOne(run('b'))
  await age(hour + 1)
  const second = await enqueueOne(run('b'))
  expect(second).toMatchObject({ duplicate: false })
  expect(second.id).not.toBe(first.id)
  expect(await enqueueOne(run('b'))).toMatchObject({ id: second.id, duplicate: true })
})

test('throttle keys differ by task and value, and from equal unique keys', async () => {
  const [one, other, unique] = await store.enqueueTaskRuns([
    run('c'),
    run('d'),
    { task: 'throttled', lane, payload: {}, uniqueKey: 'c', uniqueForMs: hour },
  ])
  const elsewhere = await enqueueOne(run('c', { task: 'another' }))
  expect(new Set([one!.id, other!.id, unique!.id, elsewhere.id]).size).toBe(4)
})

test('in a batch two runs with one key are one run', async () => {
  const [first, second, other] = await store.enqueueTaskRuns([run('twin'), run('twin'), run('single')])
  expect(second).toEqual({ ...first, duplicate: true })
  expect(other).toMatchObject({ duplicate: false })
})

test('parallel enqueues with one key insert one run', async () => {
  const stores = Array.from({ length: 6 }, () => another())
  for (let round = 0; round < 10; round++) {
    const answers = (await Promise.all(stores.map((own) => own.enqueueTaskRuns([run('parallel')])))).flat()
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    await age(hour + 1)
  }
})

test('a transaction that is rolled back leaves the window open', async () => {
  const undone = db.transaction().execute(async (trx) => {
    expect(await enqueueTaskRuns(trx, [run('undone')])).toMatchObject([{ duplicate: false }])
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await enqueueOne(run('undone'))).toMatchObject({ duplicate: false })
})

test('a run is kept until its window has ended, and the window is removed with it', async () => {
  const { id } = await enqueueOne(run('kept'))
  await store.cancelTaskRuns([id])
  const pruneAll = () => store.pruneTaskRuns({ keepMs: -1_000, limit: 10_000 })
  await pruneAll()
  expect(await enqueueOne(run('kept'))).toMatchObject({ id, duplicate: true })
  await age(hour + 1)
  await pruneAll()
  expect(await db.selectFrom('q.unique_period').select('run_id').where('run_id', '=', id).execute()).toEqual([])
})

test.each([
  [{ throttle: { key: 'x', forMs: 0 } }, 'throttle.forMs'],
  [{ throttle: { key: 'x', forMs: 1 }, uniqueKey: 'y' }, 'has one of them'],
  [{ debounce: { key: 'x', forMs: 5, maxMs: 4 } }, 'debounce.maxMs'],
  [{ debounce: { key: 'x', forMs: 5, maxMs: 5 }, delayMs: 1 }, 'the window is the delay'],
])('%j is refused', async (more, why) => {
  const wrong = enqueueOne({ task: 'throttled', lane, payload: {}, ...more })
  await expect(wrong).rejects.toMatchObject({ code: 'RUN_OPTION_INVALID', why: expect.stringContaining(why) })
})
