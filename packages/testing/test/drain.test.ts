/** Runs that are executed inline end as in production. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, createStore, type RunId, type Store } from '@q/store'
import { testQueue, type ExecutedRun } from '@q/testing'
import * as tasks from './tasks/everyday.ts'

const shortly = ({ task, outcome, attempt }: ExecutedRun) => `${task} ${attempt} ${outcome}`

async function withStore(url: string) {
  const connection = connect(url, { purpose: 'control' })
  return { store: createStore(connection.db), [Symbol.asyncDispose]: () => connection.close() }
}

test('runs are executed in order, and their producer gets the results', async () => {
  await using q = await testQueue({ tasks })
  const hello = await q.enqueue('hello', { name: 'Ada' })
  const resize = await q.enqueue('resize', { url: 'a' })
  expect(await q.drain()).toEqual({
    ran: [
      { id: hello.id, task: 'hello', attempt: 1, outcome: 'succeeded', result: 'Hello, Ada!' },
      { id: resize.id, task: 'resize', attempt: 1, outcome: 'succeeded', result: { url: 'a', width: 800 } },
    ],
    expired: [],
    recovered: [],
  })
  expect(await hello.result({ timeout: '100s' })).toBe('Hello, Ada!')
  expect(await resize.status()).toMatchObject({ status: 'SUCCEEDED' })
  expect((await q.drain()).ran).toEqual([])
})

test('an invalid payload is rejected, or fails the run without a retry; the code does not start', async () => {
  await using q = await testQueue({ tasks })
  await expect(q.enqueue('resize', { url: 5 } as never)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  await q.enqueue('evenOnly', { number: 3 })
  expect((await q.drain()).ran).toMatchObject([
    { outcome: 'failed', code: 'INVALID_PAYLOAD', detail: expect.stringContaining('/number') },
  ])
})

test('a failed attempt is retried after its delay, as often as the task allows', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('flaky', { from: 9 })
  const attempts: string[] = []
  for (let round = 0; round < 4; round++) {
    attempts.push(...(await q.drain()).ran.map(shortly))
    expect((await q.drain()).ran).toEqual([])
    await q.travel('1h')
  }
  expect(attempts).toEqual(['flaky 1 retried', 'flaky 2 retried', 'flaky 3 failed'])
})

test('time does not pass within a drain: an immediate retry waits for the next one', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('impatient', {})
  await q.enqueue('hello', { name: 'Ada' })
  expect((await q.drain()).ran.map(shortly)).toEqual(['impatient 1 retried', 'hello 1 succeeded'])
  expect((await q.drain()).ran.map(shortly)).toEqual(['impatient 2 retried'])
  expect((await q.drain()).ran.map(shortly)).toEqual(['impatient 3 succeeded'])
})

test('Fail ends the run, Retry sets the delay, Snooze does not count as an attempt', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('hopeless', {})
  await q.enqueue('asksAgain', {})
  await q.enqueue('waits', { until: 'then' })
  expect((await q.drain()).ran.map(shortly)).toEqual(['hopeless 1 failed', 'asksAgain 1 retried', 'waits 1 snoozed'])
  await q.travel('2h')
  expect((await q.drain()).ran).toEqual([])
  await q.travel('1h')
  expect((await q.drain()).ran.map(shortly)).toEqual(['asksAgain 2 succeeded'])
  await q.travel('21h')
  expect((await q.drain()).ran).toMatchObject([{ outcome: 'succeeded', attempt: 1, result: { attempt: 1, seen: 0 } }])
})

test('results are repaired where possible, otherwise rejected', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('strange', {})
  await q.enqueue('noJson', {})
  const [strange, noJson] = (await q.drain()).ran
  expect(strange).toMatchObject({ outcome: 'succeeded', result: { text: 'a\uFFFDb', number: null } })
  expect(noJson).toMatchObject({ outcome: 'failed', code: 'INVALID_RESULT' })
})

test('child runs are executed too, with the options of their task; logs are stored', async () => {
  await using q = await testQueue({ tasks })
  const { id } = await q.enqueue('parent', { children: 2 })
  expect((await q.drain()).ran.map(shortly)).toEqual(['parent 1 succeeded', 'resize 1 succeeded', 'resize 1 succeeded'])
  expect(await q.enqueued('resize')).toMatchObject([
    { queue: 'images', priority: 5, payload: { url: 'child 0' } },
    { queue: 'images', priority: 5, payload: { url: 'child 1' } },
  ])
  await using other = await withStore(q.url)
  expect(await other.store.readTaskLogs(id)).toMatchObject({ lines: [{ line: 'all sent', facts: { children: 2 } }] })
})

test('runs of one concurrency key follow each other within one drain', async () => {
  await using q = await testQueue({ tasks })
  for (let order = 0; order < 3; order++) await q.enqueue('oneAtATime', { account: 'a', order })
  expect((await q.enqueued()).map(({ status }) => status)).toEqual(['AVAILABLE', 'PENDING', 'PENDING'])
  expect((await q.drain()).ran.map(({ result }) => result)).toEqual([0, 1, 2])
})

test('a task that enqueues itself forever ends the drain with an error that names it', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('forever', {})
  await expect(q.drain({ runsMax: 5 })).rejects.toMatchObject({
    code: 'DRAIN_ENDLESS',
    why: expect.stringContaining('forever 6 times'),
  })
})

test('fake timers of the test block neither drain() nor travel()', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  await using q = await testQueue({ tasks })
  const run = await q.enqueue('parent', { children: 1 }, { delay: '1h' })
  await q.travel('1h')
  expect((await q.drain()).ran.map(shortly)).toEqual(['parent 1 succeeded', 'resize 1 succeeded'])
  expect(await run.result()).toBe(1)
})

test('drains of one queue do not overlap', async () => {
  await using q = await testQueue({ tasks })
  const first = q.drain()
  await expect(q.drain()).rejects.toMatchObject({ code: 'DRAIN_UNDER_WAY' })
  await first
  expect((await q.drain()).ran).toEqual([])
})

test('a test replica has every required capability', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('needsGpu', {})
  expect((await q.drain()).ran).toMatchObject([{ result: 'computed' }])
})

test.each([
  ['slow', 'TIMEOUT'],
  ['silent', 'SILENT'],
  ['deaf', 'TIMEOUT'],
] as const)('code that awaits is stopped at its limits: %s', async (task, code) => {
  await using q = await testQueue({ tasks })
  await q.enqueue(task, {})
  expect((await q.drain()).ran).toMatchObject([{ outcome: 'failed', code }])
})

test('a run that is cancelled while it runs is stopped', async () => {
  await using q = await testQueue({ tasks })
  const { id } = await q.enqueue('patient', {})
  const draining = q.drain()
  await using other = await withStore(q.url)
  await untilRunning(other.store, id)
  await other.store.cancelTaskRuns([id])
  expect((await draining).ran).toMatchObject([{ outcome: 'cancelled', code: 'TASK_CANCELLED' }])
})

test('a drain needs the tasks, an enqueue only their types', async () => {
  await using q = await testQueue<typeof tasks>()
  await q.enqueue('hello', { name: 'Ada' })
  expect(await q.enqueued('hello')).toMatchObject([{ payload: { name: 'Ada' }, status: 'PENDING' }])
  await expect(q.drain()).rejects.toMatchObject({ code: 'TEST_TASKS_MISSING' })
})

test('a value that is not a task module is rejected with a reason', async () => {
  await expect(testQueue({ tasks: { notATask: 1 } })).rejects.toMatchObject({
    code: 'TASK_MODULE_EMPTY',
    message: expect.stringContaining('given to testQueue()'),
  })
})

function untilRunning(store: Store, id: RunId): Promise<void> {
  const look = async () => expect(await store.getTaskRuns([id])).toMatchObject([{ status: 'RUNNING' }])
  return vi.waitFor(look, { timeout: 30_000, interval: 20 })
}
