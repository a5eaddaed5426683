import { expect, test } from 'vitest'
import type { RunFailed } from '@q/client'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import { gate } from './gate.ts'
import type * as tasks from './tasks/outcomes.ts'

const failure = (result: Promise<unknown>): Promise<RunFailed> =>
  result.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: RunFailed) => error,
  )

test('a run that throws is retried as often as its task allows, and then fails with the last error', async () => {
  const { q, store, events } = await execution<typeof tasks>('outcomes')
  expect(await (await q.enqueue('succeedsAt', { attempt: 3 })).result({ timeout: '100s' })).toBe(3)
  const run = await q.enqueue('succeedsAt', { attempt: 4 })
  expect(await failure(run.result({ timeout: '100s' }))).toMatchObject({
    code: 'TASK_ERROR',
    attempts: 3,
    message: expect.stringContaining('not yet, 3'),
  })
  const attempts = (await store.getTaskRun(run.id))?.attempts.map(({ outcome, detail }) => [outcome, detail])
  expect(attempts).toEqual([
    ['retried', 'Error: not yet, 1'],
    ['retried', 'Error: not yet, 2'],
    ['failed', 'Error: not yet, 3'],
  ])
  expect(events.filter(({ type }) => type === 'run-retried')).toHaveLength(4)
})

test('a run with an invalid payload never starts, even if attempts are left; a valid payload gets its defaults', async () => {
  const { q } = await execution<typeof tasks>('outcomes')
  expect(await (await q.enqueue('checked', { url: 'https://example.org' })).result({ timeout: '100s' })).toBe(800)
  // What the published schema cannot say, the format of a text, is found out by the replica.
  expect(await failure((await q.enqueue('checked', { url: 'nowhere' })).result({ timeout: '100s' }))).toMatchObject({
    code: 'INVALID_PAYLOAD',
    attempts: 1,
    message: expect.stringContaining('/url: '),
  })
  await expect(q.enqueue('checked', { url: 5 } as never)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
})

test('any error of a validator ends the run with INVALID_PAYLOAD and a bounded text', async () => {
  const { q } = await execution<typeof tasks>('outcomes')
  const { code, message } = await failure((await q.enqueue('strangelyChecked', {})).result({ timeout: '100s' }))
  expect(code).toBe('INVALID_PAYLOAD')
  expect(message).toContain('payload: a\uFFFDb\uFFFD; payload')
  expect(message.length).toBeLessThan(11_000)
})

test('a result that was repaired counts, and the log of its run says where', async () => {
  const { q, store } = await execution<typeof tasks>('outcomes')
  const run = await q.enqueue('repaired', {})
  expect(await run.result({ timeout: '100s' })).toEqual({ text: 'a\uFFFDb', numbers: [1, null] })
  const { lines } = await store.readTaskLogs(run.id)
  expect(lines.map(({ level, facts }) => [level, facts])).toEqual([[40, { places: ['/text', '/numbers/1'] }]])
})

test('a run is not retried unless its task allows it', async () => {
  const { q } = await execution<typeof tasks>('outcomes')
  expect(await failure((await q.enqueue('once', {})).result({ timeout: '100s' }))).toMatchObject({ attempts: 1 })
})

test.each(['failsForGood', 'failsForGoodInAnotherCopy'] as const)(
  '%s: Fail ends the run, even if attempts are left',
  async (task) => {
    const { q } = await execution<typeof tasks>('outcomes')
    expect(await failure((await q.enqueue(task, {})).result({ timeout: '100s' }))).toMatchObject({
      code: 'TASK_ERROR',
      attempts: 1,
      message: expect.stringContaining('Fail: hopeless'),
    })
  },
)

test('Retry decides the delay', async () => {
  const { q } = await execution<typeof tasks>('outcomes')
  expect(await (await q.enqueue('asksAgain', {})).result({ timeout: '100s' })).toBe('the second time')
})

test('a run that is due soon starts without a poll: enqueued with a delay, snoozed or retried', async () => {
  const { q } = await execution<typeof tasks>('outcomes', { env: { Q_POLL_MS: '60000' } })
  const runs = [
    await q.enqueue('asksAgain', {}),
    await q.enqueue('asksAgain', {}, { delay: '30ms' }),
    await q.enqueue('asksAgain', {}, { runAt: new Date(Date.now() + 30) }),
    await q.enqueue('snoozes', { until: Date.now() + 30 }),
  ]
  const results = await Promise.all(runs.map((run) => run.result({ timeout: '100s' })))
  expect(results).toEqual([...Array.from({ length: 3 }, () => 'the second time'), 1])
})

test('Snooze is not a failure: the attempt does not count', async () => {
  const { q, store } = await execution<typeof tasks>('outcomes')
  const { file: until, open } = gate()
  const run = await q.enqueue('snoozesAtGate', { until })
  const ended = async () => (await store.getTaskRun(run.id))?.attempts.map(({ outcome }) => outcome) ?? []
  await eventually(async () => ((await ended()).includes('snoozed') ? true : undefined), 'snoozed')
  open()
  expect(await run.result({ timeout: '100s' })).toBe(1)
  const outcomes = await ended()
  expect(outcomes.at(-1)).toBe('succeeded')
  expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['snoozed']))
})

test('a task that is unique by a value of its payload has one run per value', async () => {
  const { q, store } = await execution<typeof tasks>('outcomes')
  const first = await q.enqueue('onlyOne', { key: 'a' })
  expect((await q.enqueue('onlyOne', { key: 'a' })).id).toBe(first.id)
  const other = await q.enqueue('onlyOne', { key: 'b' })
  expect(other.id).not.toBe(first.id)
  await store.cancelTaskRuns([first.id, other.id])
})

test('the causes of an error are kept in the result, in the history and for the log', async () => {
  const { q, store, events } = await execution<typeof tasks>('outcomes')
  const run = await q.enqueue('unreachable', {})
  const error = await failure(run.result({ timeout: '100s' }))
  const words =
    'Error: the order failed; caused by AggregateError; caused by no network; errors: Error: connect ECONNREFUSED 127.0.0.1:1'
  expect(error.message).toContain(words)
  const { cause } = error as { cause?: AggregateError }
  expect(cause).toBeInstanceOf(AggregateError)
  expect(cause?.errors[0]).toBeInstanceOf(Error)
  expect(cause?.errors[0]).toMatchObject({ message: 'connect ECONNREFUSED 127.0.0.1:1', code: 'ECONNREFUSED' })
  expect((await store.getTaskRun(run.id))?.attempts[0]).toMatchObject({ detail: words })
  expect(events.find(({ type }) => type === 'run-ended')).toMatchObject({
    code: 'TASK_ERROR',
    detail: words,
    at: expect.stringMatching(/outcomes\.ts:\d+:\d+$/),
  })
})
