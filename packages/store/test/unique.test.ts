import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun, type RunId } from '@q/store'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { fixture } from './fixture.ts'

const { store, db, another } = await fixture()
const lane = await store.internLane({ queue: 'default', task: 'unique' })

function whileLive(uniqueKey: string): NewRun {
  return { task: uniqueKey, lane, payload: {}, uniqueKey }
}

/** For an hour. */
function run(uniqueKey: string, more: Partial<NewRun> = {}): NewRun {
  return { ...whileLive(uniqueKey), uniqueForMs: 3_600_000, ...more }
}

async function enqueueOne(wanted: NewRun): Promise<EnqueuedRun> {
  return (await store.enqueueTaskRuns([wanted]))[0]!
}

async function end(id: RunId): Promise<void> {
  expect(await store.cancelTaskRuns([id])).toEqual(['cancelled'])
}

/** As if it had begun so much earlier. */
async function age(key: string, ms: number): Promise<void> {
  await sql`UPDATE q.unique_period SET until = until - ${ms} * interval '1 ms' WHERE unique_key = ${key}`.execute(db)
}

async function periods(key: string): Promise<string[]> {
  const rows = await db.selectFrom('q.unique_period').select('run_id').where('unique_key', '=', key).execute()
  return rows.map((period) => period.run_id)
}

test('within its period a key belongs to its run, even after that run has ended', async () => {
  const first = await enqueueOne(run('within'))
  expect(first).toMatchObject({ status: 'AVAILABLE', duplicate: false })
  expect(await enqueueOne(run('within'))).toEqual({ ...first, duplicate: true })
  await end(first.id)
  expect(await enqueueOne(run('within'))).toEqual({ id: first.id, status: 'CANCELLED', duplicate: true })
})

test('the period is counted from the enqueue of the first; later enqueues do not prolong it', async () => {
  const first = await enqueueOne(run('counted'))
  await end(first.id)
  await age('counted', 3_500_000)
  expect(await enqueueOne(run('counted', { uniqueForMs: 7_200_000 }))).toMatchObject({ id: first.id, duplicate: true })
  await age('counted', 100_001)
  const next = await enqueueOne(run('counted'))
  expect(next).toMatchObject({ duplicate: false })
  expect(await periods('counted')).toEqual([next.id])
})

test('after the period a live run still has its key, and an ended run does not', async () => {
  const first = await enqueueOne(run('after'))
  await age('after', 3_600_001)
  expect(await enqueueOne(run('after'))).toMatchObject({ id: first.id, duplicate: true })
  await end(first.id)
  expect(await enqueueOne(run('after'))).toMatchObject({ duplicate: false })
})

test('an enqueue without a period respects a period that was taken, and takes none', async () => {
  const plain = whileLive('respected')
  const first = await enqueueOne(run('respected'))
  await end(first.id)
  expect(await enqueueOne(plain)).toMatchObject({ id: first.id, duplicate: true })
  await age('respected', 3_600_001)
  const second = await enqueueOne(plain)
  expect(second).toMatchObject({ duplicate: false })
  await end(second.id)
  expect(await enqueueOne(plain)).toMatchObject({ duplicate: false })
})

test('a duplicate of a live run without a period starts no period', async () => {
  const plain = whileLive('bare')
  const first = await enqueueOne(plain)
  expect(await enqueueOne(run('bare'))).toMatchObject({ id: first.id, duplicate: true })
  expect(await periods('bare')).toEqual([])
  await end(first.id)
  expect(await enqueueOne(plain)).toMatchObject({ duplicate: false })
})

test('parallel enqueues with one key and a period insert one run', async () => {
  const stores = Array.from({ length: 6 }, () => another())
  for (let round = 0; round < 10; round++) {
    const answers = (await Promise.all(stores.map((own) => own.enqueueTaskRuns([run('parallel')])))).flat()
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    await end(answers[0]!.id)
    await age('parallel', 3_600_001)
  }
})

test('a transaction that is rolled back leaves neither a run nor a period', async () => {
  const undone = db.transaction().execute(async (trx) => {
    expect(await enqueueTaskRuns(trx, [run('undone')])).toMatchObject([{ duplicate: false }])
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await periods('undone')).toEqual([])
  expect(await enqueueOne(run('undone'))).toMatchObject({ duplicate: false })
})

test('a run that was enqueued and ended while a batch waited has its period: the batch inserts no second run', async () => {
  const over = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const inTheWay = db
    .transaction()
    .execute(async (trx) => {
      await enqueueTaskRuns(trx, [run('1 in the way')])
      begun.resolve()
      await over.promise
      throw new Error('rolled back')
    })
    .catch(() => {})
  await begun.promise
  // It has looked at both keys, and waits for the first one.
  const batch = another().enqueueTaskRuns([run('2 in between'), run('1 in the way')])
  await untilSomebodyWaits(db)
  const inBetween = await enqueueOne(run('2 in between'))
  await end(inBetween.id)
  over.resolve()
  await inTheWay
  expect(await batch).toMatchObject([{ id: inBetween.id, status: 'CANCELLED', duplicate: true }, { duplicate: false }])
  const made = await db.selectFrom('q.task_run').select('id').where('task', '=', '2 in between').execute()
  expect(made).toEqual([{ id: inBetween.id }])
})

test('in a batch two runs with one key and a period are one run', async () => {
  const [first, second, other] = await store.enqueueTaskRuns([run('twin'), run('twin'), run('other')])
  expect(second).toEqual({ ...first, duplicate: true })
  expect(other).toMatchObject({ duplicate: false })
  expect(await periods('twin')).toEqual([first!.id])
})

test('a period whose run was removed does not count', async () => {
  const first = await enqueueOne(run('removed'))
  await db.deleteFrom('q.task_run').where('id', '=', first.id).execute()
  const second = await enqueueOne(run('removed'))
  expect(second).toMatchObject({ duplicate: false })
  expect(await periods('removed')).toEqual([second.id])
})

test('large batches with keys in opposite orders wait for each other and do not deadlock', async () => {
  const keys = Array.from({ length: 2_000 }, (_, at) => whileLive(String(at).padStart(4, '0')))
  const batch = Promise.withResolvers<EnqueuedRun[]>()
  await db.transaction().execute(async (trx) => {
    await enqueueTaskRuns(trx, [{ ...whileLive('0000'), task: 'circle' }])
    const asked = keys.toReversed().map((one) => ({ ...one, task: 'circle' }))
    batch.resolve(another().enqueueTaskRuns(asked))
    await untilSomebodyWaits(db)
    await enqueueTaskRuns(trx, [{ ...whileLive('1999'), task: 'circle' }])
  })
  const answers = await batch.promise
  expect(answers.flatMap(({ duplicate }, at) => (duplicate ? [at] : []))).toEqual([0, 1_999])
})
