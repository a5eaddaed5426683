/** One attempt of a task without a database: same checks, same ends. */
import { expect, expectTypeOf, test } from 'vitest'
import { task } from '@q/task'
import { runTask } from '@q/testing'
import { z } from 'zod'
import * as tasks from './tasks/everyday.ts'

const nothing = { heartbeats: [], logs: [], checkpoints: [], enqueued: [] }

test('the return value is the result as JSON has it, with the type of the task', async () => {
  const trial = await runTask(tasks.hello, { name: 'Ada' })
  expect(trial).toEqual({ outcome: 'succeeded', result: 'Hello, Ada!', ...nothing })
  expectTypeOf(trial.result).toEqualTypeOf<string | undefined>()
  expect(await runTask(tasks.strange, {})).toMatchObject({ result: { text: 'a\uFFFDb', number: null } })
  expect(await runTask(tasks.noJson, {})).toMatchObject({ outcome: 'failed', code: 'INVALID_RESULT' })
})

test('the payload is checked, and the code gets the output of the schema', async () => {
  expect(await runTask(tasks.resize, { url: 'a' })).toMatchObject({ result: { url: 'a', width: 800 } })
  const wrong = await runTask(tasks.resize, { url: 'a', width: 'wide' as never })
  expect(wrong).toMatchObject({ outcome: 'failed', code: 'INVALID_PAYLOAD', detail: expect.stringContaining('/width') })
  await expect(runTask(tasks.hello, { name: 1n as never })).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
})

test('a retry depends on the attempt and on the error', async () => {
  expect(await runTask(tasks.flaky, { from: 9 })).toMatchObject({
    outcome: 'retried',
    code: 'TASK_ERROR',
    detail: 'Error: not yet, 1',
  })
  expect(await runTask(tasks.flaky, { from: 9 }, { attempt: 3 })).toMatchObject({ outcome: 'failed' })
  expect(await runTask(tasks.flaky, { from: 2 }, { attempt: 2 })).toMatchObject({ result: 2 })
  expect(await runTask(tasks.hopeless, {})).toMatchObject({ outcome: 'failed', detail: 'Fail: hopeless' })
  expect(await runTask(tasks.asksAgain, {})).toMatchObject({ outcome: 'retried', afterMs: 3 * 3_600_000 })
})

test('checkpoints and steps are recorded and can be passed to a later attempt', async () => {
  const first = await runTask(tasks.waits, { until: 'then' })
  expect(first).toMatchObject({ outcome: 'snoozed', afterMs: 86_400_000 })
  expect(first.checkpoints).toEqual([{ once: { seen: 0 } }, { state: 'then', once: { seen: 0 } }])
  const later = await runTask(tasks.waits, { until: 'then' }, { resumed: 'then', done: { seen: 7 } })
  expect(later).toMatchObject({ result: { attempt: 1, seen: 7 }, checkpoints: [] })
})

test('heartbeats, log lines and enqueued runs are recorded', async () => {
  const busy = task({ input: z.object({ rows: z.number() }) }, async ({ rows }, ctx) => {
    for (let row = 1; row <= rows; row++) ctx.heartbeat(row / rows, `row ${row}`)
    ctx.log.warn({ rows }, 'many rows')
    ctx.log.info('and on')
    const { id } = await ctx.enqueue('next', { rows }, { delay: '5m', priority: -1 })
    return { id, key: ctx.idempotencyKey, lease: ctx.lease }
  })
  expect(await runTask(busy, { rows: 2 }, { attempt: 2, runId: '77' })).toEqual({
    outcome: 'succeeded',
    result: { id: '1', key: '77-1', lease: { runId: '77', fence: 2 } },
    heartbeats: [
      { progress: 0.5, note: 'row 1' },
      { progress: 1, note: 'row 2' },
    ],
    logs: [
      { level: 'warn', line: 'many rows', facts: { rows: 2 } },
      { level: 'info', line: 'and on', facts: undefined },
    ],
    checkpoints: [],
    enqueued: [{ task: 'next', payload: { rows: 2 }, delayMs: 300_000, priority: -1 }],
  })
})

test('a cancelled run stops at its next heartbeat, or where it awaits its signal', async () => {
  const loop = task((_: object, ctx) => {
    for (;;) ctx.heartbeat()
  })
  const cancelled = { outcome: 'cancelled', code: 'TASK_CANCELLED' }
  expect(await runTask(loop, {}, { signal: AbortSignal.abort() })).toMatchObject(cancelled)
  const controller = new AbortController()
  const waiting = runTask(tasks.patient, {}, { signal: controller.signal })
  controller.abort()
  expect(await waiting).toMatchObject(cancelled)
})

test('payloads are typed by the task', () => {
  const neverCalled = async () => {
    // @ts-expect-error the payload lacks its name
    await runTask(tasks.hello, {})
    // @ts-expect-error not a task
    await runTask(String, {})
  }
  expect(neverCalled).toBeTypeOf('function')
})
