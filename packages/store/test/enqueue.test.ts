import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connect, createStore, enqueueTaskRuns, type NewRun, type RunId } from '@q/store'
import { enqueueStatement } from '../src/runs/enqueue-statement.ts'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { fixture } from './fixture.ts'

const { store, db, url, row, another } = await fixture()
const lane = await store.internLane({ queue: 'default', task: 'enqueued' })

function runs(count: number, more: (number: number) => Partial<NewRun> = () => ({}), task = 'enqueued'): NewRun[] {
  return Array.from({ length: count }, (_, number) => ({ task, lane, payload: { number }, ...more(number) }))
}

async function stored(task: string): Promise<number> {
  return (await db.selectFrom('q.task_run').select('id').where('task', '=', task).execute()).length
}

test('results are in the order of the runs, and ids rise in that order, for any gates and keys', async () => {
  const asked = runs(2_500, (number) => ({
    ...(number % 3 === 0 && { delayMs: 60_000 }),
    ...(number % 5 === 0 && { concurrency: { scope: 'ordered', key: `${number % 40}` } }),
    ...(number % 7 === 0 && { uniqueKey: `key ${(number * 7919) % 2_500}` }),
  }))
  const answers = await store.enqueueTaskRuns(asked)
  const rows = await db.selectFrom('q.task_run').select(['id', 'status', 'payload']).execute()
  const byId = new Map(rows.map((found) => [found.id, found]))
  expect(answers.map(({ id }) => byId.get(id)?.payload)).toEqual(asked.map(({ payload }) => payload))
  expect(answers.map(({ id }) => byId.get(id)?.status)).toEqual(answers.map(({ status }) => status))
  const ids = answers.map(({ id }) => BigInt(id))
  expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true)
})

test('the text of the statement does not depend on the number or options of the runs', () => {
  const checked = (run: NewRun) => ({ run, payload: '{}' })
  const text = (asked: readonly NewRun[]) => enqueueStatement(asked.map(checked)).sql
  expect(text(runs(50, () => ({ delayMs: 1, group: 'g', trace: 't' })))).toBe(text(runs(1)))
})

test('a run that is enqueued alone gets the same row as in a batch, whatever its options', async () => {
  const options: readonly Partial<NewRun>[] = [
    {},
    { delayMs: 0, priority: -3, group: 'g', maxAttempts: 4, onCrash: 'retry', trace: 't' },
    { expiresInMs: 3_600_000, timeoutMs: 5, maxSilentMs: 6, onCrash: 'fail' },
    { payload: null },
    { payload: ['\\ " \' $1', { deep: 1e20 }] },
    { delayMs: 3_600_000 },
  ]
  for (const more of options) {
    const [alone] = await store.enqueueTaskRuns(runs(1, () => more))
    for (const other of await store.enqueueTaskRuns(runs(2, () => ({ payload: { number: 0 }, ...more }))))
      expect(await untimed(other.id)).toEqual(await untimed(alone!.id))
  }

  /** The row, with times rounded to minutes after its creation, and without its id. */
  async function untimed(runId: RunId) {
    const { created_at, ...rest } = await row(runId)
    const minutes = (value: unknown) =>
      value instanceof Date ? Math.abs(Math.round((value.getTime() - created_at.getTime()) / 60_000)) : value
    return Object.fromEntries(Object.entries({ ...rest, id: undefined }).map(([name, value]) => [name, minutes(value)]))
  }
})

test('a delay of 0 is not a gate: the run is available, or waits for its concurrency key alone', async () => {
  const [plain, keyed] = await store.enqueueTaskRuns(
    runs(2, (number) => ({ delayMs: 0, ...(number === 1 && { concurrency: { scope: 'at once', key: 'k' } }) })),
  )
  expect([plain?.status, keyed?.status]).toEqual(['AVAILABLE', 'AVAILABLE'])
  const { db: other } = connect(url, { purpose: 'control' })
  const [gated] = await other.transaction().execute((trx) =>
    enqueueTaskRuns(
      trx,
      runs(1, () => ({ delayMs: 0, concurrency: { scope: 'at once', key: 'k' } })),
    ),
  )
  expect(await row(gated!.id)).toMatchObject({ status: 'PENDING', waiting_for: 'concurrency' })
  await other.destroy()
})

test('runs with equal times start in the order of their enqueues, in one batch and in several', async () => {
  const task = 'first in first out'
  const own = await store.internLane({ queue: 'default', task })
  const runAt = new Date(Date.now() + 3_600_000)
  const asked = (count: number, more: Partial<NewRun>, keys: boolean) =>
    runs(
      count,
      (number) => ({ lane: own, ...more, ...(keys && { uniqueKey: `${(number * 7) % count} ${count}` }) }),
      task,
    )
  const enqueued = [
    ...(await store.enqueueTaskRuns(asked(3, { runAt }, false))),
    ...(await store.enqueueTaskRuns(asked(1_100, { runAt }, true))),
    ...(await store.enqueueTaskRuns(asked(1, { runAt }, false))),
  ]
  await sql`UPDATE q.task_run SET run_at = run_at - interval '2 hours' WHERE task = ${task}`.execute(db)
  while ((await store.promoteDueTaskRuns(400)).ids.length > 0) {
    const started = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: [task], queues: [], limit: 300 })
    expect(started.map(({ runId }) => runId)).toEqual(enqueued.splice(0, started.length).map(({ id }) => id))
  }
  const left = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: [task], queues: [], limit: 2_000 })
  expect(left.map(({ runId }) => runId)).toEqual(enqueued.map(({ id }) => id))
})

test.each([1_100, 5])(
  'runs of one batch without a delay start in its order, with any unique keys: %i',
  async (count) => {
    const task = `in order ${count}`
    const own = await store.internLane({ queue: 'default', task })
    const keyed = (number: number) => ({ lane: own, uniqueKey: `${(number * 7) % count}` })
    const enqueued = await store.enqueueTaskRuns(runs(count, keyed, task))
    const started = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: [task], queues: [], limit: count })
    expect(started.map(({ runId }) => runId)).toEqual(enqueued.map(({ id }) => id))
  },
)

test('a run is stored with all its options', async () => {
  const [run] = await store.enqueueTaskRuns([
    {
      task: 'enqueued',
      lane,
      payload: null,
      priority: -3,
      group: 'tenant "a"',
      maxAttempts: 4,
      timeoutMs: 60_000,
      maxSilentMs: 5_000,
      onCrash: 'retry',
      trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    },
  ])
  expect(await row(run!.id)).toMatchObject({
    priority: -3,
    grp: 'tenant "a"',
    max_attempts: 4,
    timeout_ms: 60_000,
    max_silent_ms: 5_000,
    on_crash: 'retry',
    trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    payload: null,
  })
  const { rows } = await sql`SELECT FROM q.task_run WHERE id = ${run!.id} AND payload = 'null'`.execute(db)
  expect(rows).toHaveLength(1)
  const [bare] = await store.enqueueTaskRuns(runs(1))
  expect(await row(bare!.id)).toMatchObject({ priority: 0, grp: '', max_attempts: 1, timeout_ms: null, on_crash: null })
})

test.each<[string, Partial<NewRun>, string]>([
  ['a lane that is none', { lane: 2 ** 40 }, 'lane is not a whole number from 1 to 2147483647'],
  ['half a priority', { priority: 0.5 }, 'priority is not a whole number'],
  ['no attempt', { maxAttempts: 0 }, 'maxAttempts is not a whole number from 1'],
  ['a delay that is no number', { delayMs: Number.NaN }, 'delayMs is not a number from 0'],
  ['a deadline in the past', { expiresInMs: -1 }, 'expiresInMs is not a number from 0'],
  ['a limit of no time', { timeoutMs: 0 }, 'timeoutMs is not a whole number from 1'],
  ['endless silence', { maxSilentMs: Infinity }, 'maxSilentMs is not a whole number from 1'],
  ['another onCrash', { onCrash: 'panic' as never }, 'onCrash is neither "fail" nor "retry"'],
  ['a trace with NUL', { trace: '\0' }, 'trace is not a text of at most 1000 characters'],
  ['a period without a key', { uniqueForMs: 1_000 }, 'uniqueForMs has no uniqueKey'],
])('%s is refused with its reason', async (_, option, why) => {
  const error: unknown = await store
    .enqueueTaskRuns(runs(1, () => option, 'refused'))
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'RUN_OPTION_INVALID', why: expect.stringContaining(why) })
  expect(await stored('refused')).toBe(0)
})

test('a batch of many statements is all or nothing', async () => {
  await sql`ALTER TABLE q.task_run ADD CONSTRAINT refuses CHECK (grp <> 'refused')`.execute(db)
  const bad = runs(3_000, (number) => (number === 2_500 ? { group: 'refused' } : {}), 'bulk')
  await expect(store.enqueueTaskRuns(bad)).rejects.toThrow('refuses')
  expect(await stored('bulk')).toBe(0)
  const unique = runs(20, (number) => ({ uniqueKey: `${number}`, ...(number === 10 && { group: 'refused' }) }), 'bulk')
  await expect(store.enqueueTaskRuns(unique)).rejects.toThrow('refuses')
  expect(await stored('bulk')).toBe(0)
  expect(new Set((await store.enqueueTaskRuns(runs(3_000, () => ({}), 'bulk'))).map(({ id }) => id)).size).toBe(3_000)
})

test('a batch of large payloads is enqueued, a bounded amount with each statement', async () => {
  const payload = 'x'.repeat(1_000_000)
  const answers = await store.enqueueTaskRuns(runs(20, () => ({ payload }), 'large'))
  expect(answers).toHaveLength(20)
  expect(await stored('large')).toBe(20)
})

test('two runs of one batch with the same unique key are one run', async () => {
  const key = (number: number) => (number % 2 === 0 ? { uniqueKey: `twin ${number % 4}` } : {})
  const answers = await store.enqueueTaskRuns(runs(6, key, 'twins'))
  expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, false, false, false, true, false])
  expect(answers[4]!.id).toBe(answers[0]!.id)
  expect(new Set(answers.map(({ id }) => id)).size).toBe(5)
  const again = await store.enqueueTaskRuns(runs(6, key, 'twins'))
  expect(again.map(({ duplicate }) => duplicate)).toEqual([true, false, true, false, true, false])
  expect([again[0]!.id, again[2]!.id]).toEqual([answers[0]!.id, answers[2]!.id])
})

test('batches with the same unique keys in opposite orders wait for each other, and none fails', async () => {
  for (let round = 0; round < 5; round++) {
    const asked = runs(300, (number) => ({ uniqueKey: `round ${round} key ${number}` }), 'crossed')
    const batches = [asked, asked.toReversed(), asked, asked.toReversed()]
    const answers = (await Promise.all(batches.map((batch) => another().enqueueTaskRuns(batch)))).flat()
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(300)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(300)
  }
})

test('a duplicate of a run in a transaction that rolls back is inserted', async () => {
  const [run] = runs(1, () => ({ uniqueKey: 'undone' }), 'undone')
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const first = db
    .transaction()
    .execute(async (trx) => {
      await enqueueTaskRuns(trx, [run!])
      begun.resolve()
      await over.promise
      throw new Error('rolled back')
    })
    .catch((error: unknown) => error)
  await begun.promise
  const second = another().enqueueTaskRuns([run!])
  await untilSomebodyWaits(db)
  over.resolve()
  expect(await first).toMatchObject({ message: 'rolled back' })
  expect(await second).toMatchObject([{ duplicate: false }])
  expect(await stored('undone')).toBe(1)
})

test('more concurrency keys than the server has locks are promoted with one batch', async () => {
  const answers = await store.enqueueTaskRuns(
    runs(40_000, (number) => ({ concurrency: { scope: 'many', key: `${number}` } }), 'many'),
  )
  expect(answers.filter(({ status }) => status !== 'AVAILABLE')).toEqual([])
})

test('an enqueue that was accepted does not fail because its promotion fails', async () => {
  const impatient = connect(url, { purpose: 'control', statementMsMax: 2_000 })
  await db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(${0x71_6b_65_79}, hashtext(${'held\u001Fkey'}))`.execute(trx)
    const concurrency = { scope: 'held', key: 'key' }
    const [run] = await createStore(impatient.db).enqueueTaskRuns(runs(1, () => ({ concurrency }), 'held'))
    expect(await row(run!.id)).toMatchObject({ status: 'PENDING', waiting_for: 'concurrency' })
    expect(run).toMatchObject({ status: 'PENDING', duplicate: false })
  })
  await impatient.close()
})
