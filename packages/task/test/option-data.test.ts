import { expect, test } from 'vitest'
import { Fail, optionData, outcomeOf, Retry, runSettings, Snooze, task } from '@q/task'

test('by default, a task is executed once, on a thread, without limits', () => {
  expect(optionData({})).toEqual({
    queue: 'default',
    priority: 0,
    requires: [],
    onCrash: null,
    isolation: 'thread',
    database: false,
    memoryLimitMb: null,
    startAhead: null,
    timeoutMs: null,
    maxSilentMs: null,
    retry: { attempts: 1, backoff: 'exponential', delayMs: 1_000, maxDelayMs: 3_600_000 },
    concurrency: null,
    unique: null,
    throttle: null,
    debounce: null,
    expiresMs: null,
    keepMs: null,
    schedule: null,
  })
})

test('options are published as data: durations in ms, pointers, no functions', () => {
  const { options } = task(
    {
      queue: 'cpu',
      priority: -5,
      requires: ['gpu', 'avx', 'gpu'],
      retry: { attempts: 5, backoff: 'fixed', delay: '2s', maxDelay: '1m' },
      onCrash: 'retry',
      timeout: '10m',
      maxSilent: '1m',
      isolation: 'process',
      database: true,
      memoryLimitMb: 256,
      startAhead: 1,
      concurrency: { key: '/url', limit: 2, shared: 'crawl' },
      unique: { key: 'payload', for: '1h' },
      expires: '2h',
      keep: '30d',
      cron: '0 9 * * *',
      timezone: 'Europe/Berlin',
      missed: 'all',
      payload: { url: 'x' },
    },
    (_: { url: string }) => 1,
  )
  const data = optionData(options)
  expect(JSON.parse(JSON.stringify(data))).toEqual(data)
  expect(data).toEqual({
    queue: 'cpu',
    priority: -5,
    requires: ['avx', 'gpu'],
    onCrash: 'retry',
    isolation: 'process',
    database: true,
    memoryLimitMb: 256,
    startAhead: 1,
    timeoutMs: 600_000,
    maxSilentMs: 60_000,
    retry: { attempts: 5, backoff: 'fixed', delayMs: 2_000, maxDelayMs: 60_000 },
    concurrency: { key: '/url', limit: 2, shared: 'crawl' },
    unique: { key: '', forMs: 3_600_000 },
    throttle: null,
    debounce: null,
    expiresMs: 7_200_000,
    keepMs: 2_592_000_000,
    schedule: { cron: '0 9 * * *', timezone: 'Europe/Berlin', missed: 'all', payload: { url: 'x' } },
  })
  expect(optionData({ unique: '/user/id' }).unique).toEqual({ key: '/user/id', forMs: null })
})

test('the published options of a task decide how its runs are enqueued', () => {
  const data = optionData({ retry: { attempts: 4 }, onCrash: 'retry', priority: 3, concurrency: { key: '/a~1b/0/id' } })
  expect(runSettings('t', data, { 'a/b': [{ id: 7 }] })).toEqual({
    priority: 3,
    maxAttempts: 4,
    onCrash: 'retry',
    concurrency: { scope: 't', key: 'json:7' },
  })
  expect(runSettings('t', data, { other: 1 })).not.toHaveProperty('concurrency')
  expect(runSettings('t', {}, {})).toEqual({ priority: 0, maxAttempts: 1 })
  const shared = optionData({ concurrency: { key: '/k', shared: 'both' } })
  expect(runSettings('t', shared, { k: 'x' }).concurrency).toEqual({ scope: 'both', key: 'x' })
})

test('equal payloads have equal keys, whatever the order of their members and however long they are', () => {
  const unique = (options: Parameters<typeof optionData>[0], payload: unknown) =>
    runSettings('t', optionData(options), payload)
  const whole = unique({ unique: 'payload' }, { a: 1, b: [{ c: 2, d: 3 }] })
  expect(whole).toEqual(unique({ unique: 'payload' }, { b: [{ d: 3, c: 2 }], a: 1 }))
  expect(whole).not.toEqual(unique({ unique: 'payload' }, { a: 1, b: [{ c: 2, d: 4 }] }))
  expect(unique({ unique: { key: '/id', for: '1h' } }, { id: 7 })).toMatchObject({
    uniqueKey: 'json:7',
    uniqueForMs: 3_600_000,
  })
  expect(unique({ unique: '/id' }, { other: 7 })).not.toHaveProperty('uniqueKey')
  const long = unique({ unique: '/id' }, { id: `x\n${'y'.repeat(10_000)}` }).uniqueKey
  expect(long).toMatch(/^sha256:[\w-]{43}$/)
})

test('a throttle or debounce has a window and a key of the payload; the delay of a debounce is bounded by default', () => {
  const throttled = optionData({ throttle: { key: '/url', for: '10s' } })
  expect(throttled.throttle).toEqual({ key: '/url', forMs: 10_000 })
  expect(runSettings('t', throttled, { url: 'x' })).toMatchObject({ throttle: { key: 'x', forMs: 10_000 } })
  expect(runSettings('t', throttled, {})).not.toHaveProperty('throttle')
  const debounced = optionData({ debounce: { key: 'payload', for: '5s' } })
  expect(debounced.debounce).toEqual({ key: '', forMs: 5_000, maxMs: 50_000 })
  expect(optionData({ debounce: { key: '/a', for: '5s', max: '1m' } }).debounce).toMatchObject({ maxMs: 60_000 })
  expect(runSettings('t', debounced, { a: 1 })).toMatchObject({ debounce: { key: 'json:{"a":1}', forMs: 5_000 } })
})

test('the deadline of a task applies to each run', () => {
  expect(runSettings('t', optionData({ expires: '1m' }), {})).toMatchObject({ expiresInMs: 60_000 })
})

test('the payload of a schedule is published as JSON', () => {
  const payload = { at: new Date(0), nothing: undefined }
  expect(optionData({ every: '1h', payload }).schedule?.payload).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  expect(optionData({ every: '1h', payload: null }).schedule?.payload).toBeNull()
  expect(optionData({ every: '1h' }).schedule?.payload).toEqual({})
})

test.each([
  ['1s', '* * * * * *'],
  ['15s', '*/15 * * * * *'],
  ['60s', '0 * * * * *'],
  ['5m', '0 */5 * * * *'],
  ['1h', '0 0 * * * *'],
  ['6h', '0 0 */6 * * *'],
  ['1d', '0 0 0 * * *'],
] as const)('every %s is the pattern %s', (every, cron) => {
  expect(optionData(task({ every }, () => 1).options).schedule).toMatchObject({ cron, timezone: 'UTC', missed: 'one' })
})

test('Fail, Retry and Snooze are recognised; any other value is an error', () => {
  expect(outcomeOf(new Fail('no'))).toEqual({ kind: 'fail' })
  expect(outcomeOf(new Retry({ after: '2s' }))).toEqual({ kind: 'retry', afterMs: 2_000 })
  expect(outcomeOf(new Retry())).toEqual({ kind: 'retry', afterMs: undefined })
  expect(outcomeOf(new Snooze('1m'))).toEqual({ kind: 'snooze', afterMs: 60_000 })
  for (const thrown of [new Error('x'), undefined, 'text', Object.create(null)])
    expect(outcomeOf(thrown)).toBeUndefined()
  expect(() => new Snooze('soon' as never)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
})

test('a key is computed from the JSON of a value: a Date is a string; a value without JSON has no key', () => {
  const keyOf = (value: unknown, pointer = '/v') =>
    runSettings('t', { unique: { key: pointer, forMs: null } }, { v: value }).uniqueKey
  expect(keyOf(new Date(0))).toBe(keyOf('1970-01-01T00:00:00.000Z'))
  for (const value of [undefined, null, 1n, () => 1, Symbol('s'), new Date(Number.NaN)]) {
    expect(keyOf(value)).toBeUndefined()
  }
  expect(keyOf([1, 2], '/v/1')).toBe('json:2')
  for (const pointer of ['/v/length', '/v/01', '/v/-1', '/v/2', '/v/0/0']) {
    expect(keyOf([1, 2], pointer)).toBeUndefined()
  }
})

test('values of different JSON types have different keys, and a string keeps its text', () => {
  const keyOf = (id: unknown) => runSettings('t', optionData({ unique: '/id' }), { id }).uniqueKey
  expect(keyOf('1')).toBe('1')
  const long = Array.from({ length: 300 }, () => 1)
  const values = [
    1,
    '1',
    'json:1',
    true,
    'true',
    [1],
    '[1]',
    {},
    '{}',
    '',
    long,
    JSON.stringify(long),
    `json:${JSON.stringify(long)}`,
  ]
  expect(new Set(values.map(keyOf)).size).toBe(values.length)
  expect(keyOf({ b: 1, a: 2 })).toBe(keyOf({ a: 2, b: 1 }))
  const moment = new Date(0)
  expect(keyOf(moment)).toBe(keyOf(moment.toISOString()))
})
