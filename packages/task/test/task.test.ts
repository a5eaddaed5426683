import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { durationMs, isTask, task, type PayloadOf, type ResultOf, type TaskName } from '@q/task'

describe('task()', () => {
  test('a function alone is a task', () => {
    const hello = task(({ name }: { name: string }) => `Hello, ${name}!`)
    expect(isTask(hello)).toBe(true)
    expectTypeOf<PayloadOf<typeof hello>>().toEqualTypeOf<{ name: string }>()
    expectTypeOf<ResultOf<typeof hello>>().toEqualTypeOf<string>()
  })

  test('a schema types both sides: its input is enqueued, and the code gets its output', () => {
    const resize = task({ input: z.object({ width: z.number().default(800) }) }, (payload) => {
      expectTypeOf(payload).toEqualTypeOf<{ width: number }>()
      return payload.width
    })
    expectTypeOf<PayloadOf<typeof resize>>().toEqualTypeOf<{ width?: number | undefined }>()
  })

  test('the result of an async task is the value that it resolves to', () => {
    const slow = task(async (_: null) => 1)
    expectTypeOf<Awaited<ResultOf<typeof slow>>>().toEqualTypeOf<number>()
  })

  test('exports that are not tasks are ignored', () => {
    const tasks = { hello: task((_: null) => 1), helper: () => 2, limit: 3 }
    expectTypeOf<TaskName<typeof tasks>>().toEqualTypeOf<'hello'>()
    expect(Object.values(tasks).filter(isTask)).toHaveLength(1)
  })

  test('all problems of the options are reported together', () => {
    const options = {
      queue: 'not a name!',
      onCrash: 'explode',
      input: {},
      timeuot: 5,
      timeout: '5 parsecs',
      maxSilent: 0,
      keep: -1,
      isolation: 'sandbox',
      retry: { attempts: 0 },
      concurrency: { key: 'url' },
      unique: 'url',
      priority: 0.5,
      requires: 'gpu',
      memoryLimitMb: 1,
      startAhead: 501,
    }
    const define = () => task(options as never, () => 1)
    expect(define).toThrow(expect.objectContaining({ code: 'TASK_OPTIONS_INVALID' }))
    for (const key of Object.keys(options)) expect(define).toThrow(new RegExp(`${key}: `))
  })

  test.each([
    ['cron', { cron: '61 * * * *' }],
    ['cron', { cron: 'at noon' }],
    ['cron', { cron: '0 0 30 2 *' }],
    ['every', { every: '7s' }],
    ['every', { every: '90m' }],
    ['every', { every: '500ms' }],
    ['every', { cron: '* * * * *', every: '1m' }],
    ['timezone', { cron: '* * * * *', timezone: 'Mars/Base' }],
    ['timezone', { timezone: 'UTC' }],
    ['missed', { cron: '* * * * *', missed: 'some' }],
    ['payload', { payload: {} }],
    ['payload', { cron: '* * * * *', payload: 1n }],
    ['payload', { cron: '* * * * *', payload: () => 1 }],
    ['payload', { cron: '* * * * *', input: z.object({ url: z.string() }) }],
    ['throttle', { unique: 'payload', throttle: { key: '/a', for: '1s' } }],
    ['throttle', { throttle: { key: 'a', for: '1s' } }],
    ['debounce', { throttle: { key: '/a', for: '1s' }, debounce: { key: '/a', for: '1s' } }],
    ['debounce', { debounce: { key: '/a', for: '5s', max: '1s' } }],
    ['debounce', { debounce: { key: '/a' } }],
    ['expires', { expires: 0 }],
  ])('an invalid %s is reported (%#)', (key, options) => {
    const define = () => task(options as never, () => 1)
    expect(define).toThrow(expect.objectContaining({ code: 'TASK_OPTIONS_INVALID' }))
    expect(define).toThrow(new RegExp(`${key}: `))
  })

  test('a payload that the schema accepts is accepted for the schedule', () => {
    const options = { cron: '0 9 * * *', input: z.object({ url: z.string() }), payload: { url: 'x' } }
    expect(isTask(task(options, () => 1))).toBe(true)
  })

  test('options without a function are rejected', () => {
    expect(() => task({ queue: 'cpu' }, undefined as never)).toThrow(/function to execute/)
  })
})

describe('a duration', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    [250, 250],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => expect(durationMs(text)).toBe(ms))

  test.each(['', '5', '5 parsecs', '-1s', 'NaNs', '1e9d', Number.NaN, -1, '99999d'])('%s is rejected', (text) => {
    expect(() => durationMs(text)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
  })
})
