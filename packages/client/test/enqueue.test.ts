/** What an enqueue writes, how many statements it takes, and what is refused. */
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { fixture } from './fixture.ts'
import type * as tasks from './tasks.ts'

const { store, runs, countingPool } = await fixture()
const { pool, taken } = countingPool()
const q = queue<typeof tasks>(pool)
afterAll(() => q.close())

const inserts = () => taken().filter((text) => text.includes('INSERT INTO q.task_run'))
const record = async (id: string) => (await store.getTaskRun(id as never))!.run

/** So that what is looked up once has been looked up. */
await store.publishTasks('r', [
  { name: 'once', queue: 'default', options: { unique: { key: '', forMs: null } }, payloadSchema: null },
])
await q.enqueue('hello', { name: 'first' })
await q.enqueue('once', { key: 'first' })

test('a call alone is sent at once, as one statement', async () => {
  taken()
  await q.enqueue('hello', { name: 'x' })
  expect(inserts()).toHaveLength(1)
})

test('calls that arrive while a statement is in flight share the next one, and each has its own run', async () => {
  taken()
  const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`)
  const handles = await Promise.all(names.map((name) => q.enqueue('hello', { name })))
  expect(inserts()).toHaveLength(2)
  expect(new Set(handles.map(({ id }) => id)).size).toBe(1_000)
  const payloads = await Promise.all([0, 1, 500, 999].map(async (at) => (await record(handles[at]!.id)).payload))
  expect(payloads).toEqual([0, 1, 500, 999].map((at) => ({ name: `n${at}` })))
})

test('an invalid call fails alone, and the others of its statement are enqueued', async () => {
  const before = await runs()
  const calls = Array.from({ length: 100 }, (_, index) =>
    q.enqueue('hello', { name: index % 25 === 7 ? '\0' : 'fine' }).then(
      () => 'enqueued',
      (error: { code?: string }) => error.code,
    ),
  )
  const answers = await Promise.all(calls)
  expect(answers.map((answer, index) => (answer === 'enqueued' ? -1 : index)).filter((index) => index >= 0)).toEqual([
    7, 32, 57, 82,
  ])
  expect(answers[7]).toBe('PAYLOAD_UNSTORABLE')
  expect(await runs()).toBe(before + 96)
})

test('a call with a unique key has a statement of its own, so that it delays no other call', async () => {
  const fresh = queue<typeof tasks>(pool)
  await fresh.enqueue('once', { key: 'warm' })
  taken()
  const keys = ['a', 'b', 'c', 'a']
  const handles = await Promise.all(keys.map((key) => fresh.enqueue('once', { key })))
  expect(inserts()).toHaveLength(4)
  expect(handles[0]!.id).toBe(handles[3]!.id)
  expect(handles.map(({ duplicate }) => duplicate).filter(Boolean)).toHaveLength(1)
  await fresh.close()
})

test('enqueueMany sends one statement, all or none, and returns the handles in order', async () => {
  const before = await runs()
  taken()
  const handles = await q.enqueueMany([
    ['hello', { name: 'a' }, { priority: 5 }],
    ['resize', { url: 'b' }, { group: 'g' }],
    ['hello', { name: 'c' }],
  ])
  expect(inserts()).toHaveLength(1)
  const records = await Promise.all(handles.map(({ id }) => record(id)))
  expect(records).toMatchObject([
    { task: 'hello', payload: { name: 'a' }, priority: 5 },
    { task: 'resize', payload: { url: 'b' }, group: 'g' },
    { task: 'hello', payload: { name: 'c' }, priority: 0 },
  ])
  const bad = q.enqueueMany([
    ['hello', { name: 'd' }],
    ['hello', { name: '\0' }],
  ])
  await expect(bad).rejects.toMatchObject({ code: 'PAYLOAD_UNSTORABLE', why: expect.stringContaining('run 2 of 2') })
  const late = q.enqueueMany([
    ['hello', { name: 'e' }],
    ['hello', { name: 'f' }, { priority: 0.5 }],
  ])
  await expect(late).rejects.toMatchObject({ code: 'PRIORITY_INVALID', why: expect.stringContaining('run 2 of 2') })
  expect(await q.enqueueMany([])).toEqual([])
  expect(await runs()).toBe(before + 3)
})

test('5 000 concurrent enqueues succeed', async () => {
  const before = await runs()
  const handles = await q.enqueueMany(Array.from({ length: 5_000 }, (_, at) => ['hello', { name: `${at}` }] as const))
  expect(new Set(handles.map(({ id }) => id)).size).toBe(5_000)
  expect(await runs()).toBe(before + 5_000)
})

test('options set the start time, the group and the deadline of a run', async () => {
  const later = await record((await q.enqueue('hello', { name: 'x' }, { delay: '1h', expires: '2h' })).id)
  expect(later).toMatchObject({ status: 'PENDING', waitingFor: 'time' })
  expect(later.runAt.getTime() - later.createdAt.getTime()).toBeCloseTo(3_600_000, -4)
  expect(later.expiresAt!.getTime() - later.createdAt.getTime()).toBeCloseTo(7_200_000, -4)
  const day = new Date(Date.now() + 86_400_000)
  const dated = await record(
    (await q.enqueue('hello', { name: 'x' }, { runAt: day, group: 'tenant', priority: -10 })).id,
  )
  expect(dated).toMatchObject({ status: 'PENDING', group: 'tenant', priority: -10 })
  expect(Math.abs(dated.runAt.getTime() - day.getTime())).toBeLessThan(60_000)
  const past = await record((await q.enqueue('hello', { name: 'x' }, { runAt: new Date(0) })).id)
  expect(past.runAt.getTime()).toBeGreaterThan(day.getTime() - 2 * 86_400_000)
})

test('a run that has not started by its deadline expires', async () => {
  const run = await q.enqueue('hello', { name: 'x' }, { expires: 0 })
  await store.expireTaskRuns(100)
  await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({
    code: 'TASK_EXPIRED',
    run: { status: 'EXPIRED' },
  })
})

test.each([
  [{ delay: 'soon' }, 'DURATION_INVALID'],
  [{ expires: -1 }, 'DURATION_INVALID'],
  [{ runAt: new Date('never') }, 'RUN_OPTION_INVALID'],
  [{ runAt: '2030-01-01' }, 'RUN_OPTION_INVALID'],
  [{ runAt: new Date(), delay: '1s' }, 'RUN_OPTION_INVALID'],
  [{ dleay: '5m' }, 'RUN_OPTION_INVALID'],
  [{ priority: 40_000 }, 'PRIORITY_INVALID'],
  [{ group: '\n' }, 'NAME_INVALID'],
  [{ tx: pool }, 'NOT_IN_TRANSACTION'],
  [{ tx: 'postgresql://localhost' }, 'NOT_IN_TRANSACTION'],
])('%o is refused, and nothing is written', async (options, code) => {
  const before = await runs()
  await expect(q.enqueue('hello', { name: 'x' }, options as never)).rejects.toMatchObject({ code })
  expect(await runs()).toBe(before)
})
