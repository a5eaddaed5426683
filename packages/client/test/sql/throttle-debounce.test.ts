/** Throttles, debounces and deadlines that tasks publish: q.enqueue() of the database keeps them as the client does. */
import { expect, test } from 'vitest'
import type { OptionData, TaskOptions } from '@q/task'
import { fixture } from './fixture.ts'

const { store, client, enqueue, enqueueByClient, publish, made } = await fixture()

const options: Record<string, TaskOptions> = {
  throttled: { throttle: { key: '/user/id', for: '1h' }, priority: -3 },
  'throttled-whole': { throttle: { key: 'payload', for: '2d' }, expires: '3h' },
  debounced: { debounce: { key: '/user/id', for: '1h', max: '5h' }, queue: 'cpu', requires: ['gpu'] },
  'debounced-keyed': { debounce: { key: 'payload', for: '90m' }, concurrency: { key: '/user', shared: 'api' } },
  expiring: { expires: '2h', priority: 4, onCrash: 'retry', retry: { attempts: 3 } },
}
const payloads = [{ user: { id: 'Ada' }, x: [1, { b: 1.5e30, a: null }] }, { user: { id: 'ü'.repeat(300) } }, [1], null]

/** As if everything about the runs of this task had happened so much earlier. */
async function age(task: string, time: string): Promise<void> {
  await client.query(
    `UPDATE q.task_run SET created_at = created_at - $2::interval, run_at = run_at - $2::interval WHERE task = $1`,
    [task, time],
  )
  await client.query('UPDATE q.unique_period SET until = until - $2::interval WHERE task = $1', [task, time])
}

test.each(Object.keys(options))('the function stores a run as the client does: %s', async (name) => {
  await publish(`client-${name}`, options[name]!)
  await publish(`sql-${name}`, options[name]!)
  for (const payload of payloads) {
    // The second time it is the same run: the first one, or what the last one asked for.
    for (const group of ['first', 'last']) {
      const byClient = await enqueueByClient(`client-${name}`, payload, { group })
      const bySql = await enqueue(`$1, $2, run_group => $3`, [`sql-${name}`, JSON.stringify(payload), group])
      expect(bySql.duplicate).toBe(byClient.duplicate)
      const asIfByClient: unknown = JSON.parse(
        JSON.stringify(await made(bySql.id)).replaceAll(`sql-${name}`, `client-${name}`),
      )
      expect(asIfByClient).toEqual(JSON.parse(JSON.stringify(await made(byClient.id))))
    }
  }
})

test('the SQL function reads every option of a task that affects an enqueue', async () => {
  const read: Record<keyof OptionData, boolean> = {
    queue: false, // it is a column beside the options
    priority: true,
    requires: true,
    onCrash: true,
    isolation: false,
    database: false,
    memoryLimitMb: false,
    startAhead: false,
    timeoutMs: false,
    maxSilentMs: false,
    retry: true,
    concurrency: true,
    unique: true,
    throttle: true,
    debounce: true,
    expiresMs: true,
    keepMs: false,
    schedule: false,
  }
  const { rows } = await client.query<{ code: string }>(
    `SELECT prosrc AS code FROM pg_proc WHERE oid = 'q.settings_of'::regproc`,
  )
  const names = [...rows[0]!.code.matchAll(/options (?:->>? '|#>> '\{)(\w+)/g)].map(([, name]) => name)
  const expected = Object.entries(read).flatMap(([name, isRead]) => (isRead ? name : []))
  expect(new Set(names)).toEqual(new Set(expected))
})

test('the first enqueue of a throttled task in a window creates the run, from SQL or the client, even if it has ended', async () => {
  await publish('remind', { throttle: { key: '/user', for: '1h' } })
  const first = await enqueue(`'remind', '{"user":"ada"}'`)
  expect(first).toMatchObject({ status: 'AVAILABLE', duplicate: false })
  expect(await enqueueByClient('remind', { user: 'ada' })).toEqual({ id: first.id, duplicate: true })
  await store.cancelTaskRuns([first.id as never])
  expect(await enqueue(`'remind', '{"user":"ada"}'`)).toEqual({ id: first.id, status: 'CANCELLED', duplicate: true })
  await age('remind', '61 minutes')
  const next = await enqueueByClient('remind', { user: 'ada' })
  expect(next.duplicate).toBe(false)
  expect(await enqueue(`'remind', '{"user":"ada"}'`)).toMatchObject({ id: next.id, duplicate: true })
  await age('remind', '61 minutes')
  expect(await enqueue(`'remind', '{"user":"ada"}'`)).toMatchObject({ status: 'AVAILABLE', duplicate: false })
})

test('the last enqueue of a debounced task wins with all its options, and restarts the window', async () => {
  await publish('index', { debounce: { key: '/page', for: '1h', max: '3h' }, expires: '2h' })
  const first = await enqueueByClient('index', { page: 'home', n: 1 }, { priority: 7 })
  await age('index', '30 minutes')
  const second = await enqueue(`'index', '{"page":"home","n":2}', queue => 'other', run_group => 'g', trace => 't'`)
  expect(second).toEqual({ id: first.id, status: 'PENDING', duplicate: true })
  expect(await made(first.id)).toMatchObject({
    queue: 'other',
    grp: 'g',
    trace: 't',
    priority: 0,
    payload: { page: 'home', n: 2 },
    minutes: '90',
    expires: '150',
  })
  await age('index', '15 minutes')
  expect(await enqueueByClient('index', { page: 'home', n: 3 }, { expires: '1h' })).toEqual({
    ...first,
    duplicate: true,
  })
  expect(await made(first.id)).toMatchObject({
    queue: 'default',
    trace: null,
    payload: { page: 'home', n: 3 },
    minutes: '105',
    expires: '105',
  })
})

test('a stream of enqueues cannot delay a run beyond its bound; then a new run waits beside it', async () => {
  await publish('steady', { debounce: { key: 'payload', for: '1h', max: '2h' } })
  const first = await enqueue(`'steady'`)
  for (const [turn, minutes] of ['90', '120', '120'].entries()) {
    await age('steady', '30 minutes')
    const again = turn % 2 === 0 ? await enqueue(`'steady'`) : await enqueueByClient('steady', {})
    expect(again).toMatchObject({ id: first.id, duplicate: true })
    expect(await made(first.id)).toMatchObject({ minutes })
  }
  await age('steady', '30 minutes')
  const next = await enqueue(`'steady'`)
  expect(next).toMatchObject({ status: 'PENDING', duplicate: false })
  expect(await enqueueByClient('steady', {})).toEqual({ id: next.id, duplicate: true })
})

test('a debounce does not change a run that was claimed, even while it waits for its next attempt', async () => {
  await publish('begun', { debounce: { key: 'payload', for: '1h' }, retry: { attempts: 2 } })
  const first = await enqueue(`'begun'`)
  await age('begun', '1 hour')
  await store.promoteDueTaskRuns(100)
  const [mine] = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['begun'], queues: [], limit: 1 })
  const retry = { delayMs: 3_600_000, delayMsMax: 3_600_000 }
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no', retry } as const
  await store.settleTaskRuns([{ lease: mine!, outcome, by: { hostname: 'h', pid: 1, thread: 0 } }])
  expect(await made(first.id)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
  expect(await enqueue(`'begun'`)).toMatchObject({ duplicate: false })
})

test('a rollback restores payload and time of a debounced run, and leaves windows open', async () => {
  const debounced = `'undone', debounce_key => 'k', debounce_for => '1 hour'`
  const first = await enqueue(`${debounced}, payload => '1'`)
  await age('undone', '30 minutes')
  const before = await made(first.id)
  await client.query('BEGIN')
  expect(await enqueue(`${debounced}, payload => '2'`)).toMatchObject({ id: first.id, duplicate: true })
  const throttled = await enqueue(`'undone', throttle_key => 'k', throttle_for => '1 hour'`)
  await client.query('ROLLBACK')
  expect(await made(first.id)).toEqual(before)
  expect(await made(throttled.id)).toBeUndefined()
  expect(await enqueue(`'undone', throttle_key => 'k', throttle_for => '1 hour'`)).toMatchObject({ duplicate: false })
})

test('options of a call replace those of its task, and share keys with other calls that set them', async () => {
  await publish('own', { debounce: { key: '/user', for: '1h' }, expires: '1h' })
  const throttled = await enqueue(
    `'own', '{"user":"ada"}', throttle_key => 'ada', throttle_for => '1 day', expires_in => '2 h'`,
  )
  expect(await made(throttled.id)).toMatchObject({
    status: 'AVAILABLE',
    period_key: 'throttle\u001Fada',
    period: '1440',
    expires: '120',
    debounce_key: null,
  })
  const throttle = { key: '/user', for: '1d' } as const
  expect(await enqueueByClient('own', { user: 'ada' }, { throttle })).toEqual({ id: throttled.id, duplicate: true })

  const unique = await enqueue(`'own', '{"user":"ada"}', unique_key => 'ada'`)
  expect(unique).toMatchObject({ status: 'AVAILABLE', duplicate: false })

  const debounced = await enqueue(
    `'own', '{"user":"bob"}', debounce_key => 'bob', debounce_for => '2 h', debounce_max => '2 h'`,
  )
  expect(await made(debounced.id)).toMatchObject({ debounce_key: 'bob', minutes: '120' })
  expect(await enqueueByClient('own', { user: 'bob' })).toEqual({ id: debounced.id, duplicate: true })
})

await publish('patient', { debounce: { key: 'payload', for: '1h' } })
test.each([
  ['an empty key', `'t', throttle_key => '', throttle_for => '1 s'`, 'QE001', 'the throttle key is empty'],
  [
    'a key with a control character',
    `'t', debounce_key => chr(31), debounce_for => '1 s'`,
    'QE001',
    'the debounce key contains a control character',
  ],
  ['a window without a key', `'t', throttle_for => '1 s'`, 'QE002', 'throttle_for has no throttle_key'],
  ['a throttle without a window', `'t', throttle_key => 'k'`, 'QE002', 'throttle_key has no throttle_for'],
  ['a wait without a key', `'t', debounce_for => '1 s'`, 'QE002', 'debounce_for has no debounce_key'],
  ['a bound without a key', `'t', debounce_max => '1 s'`, 'QE002', 'debounce_for has no debounce_key'],
  ['a debounce without a wait', `'t', debounce_key => 'k'`, 'QE002', 'debounce_key has no debounce_for'],
  ['no window', `'t', throttle_key => 'k', throttle_for => '0'`, 'QE002', 'throttle_for is not from 1 ms to 100 years'],
  [
    'too long a wait',
    `'t', debounce_key => 'k', debounce_for => '170000000 years'`,
    'QE002',
    'debounce_for is not from 1 ms to 100 years',
  ],
  [
    'a bound below the wait',
    `'t', debounce_key => 'k', debounce_for => '5 s', debounce_max => '4 s'`,
    'QE002',
    'debounce_max is not from debounce_for to 100 years',
  ],
  ['a delay beside a debounce', `'patient', delay => '1 s'`, 'QE002', 'delay and debounce: the window is the delay'],
  [
    'two laws',
    `'t', unique_key => 'k', throttle_key => 'k', throttle_for => '1 s'`,
    'QE002',
    'unique_key, throttle_key and debounce_key: a run has one of them',
  ],
])('%s is refused', async (_, call, code, detail) => {
  await expect(enqueue(call)).rejects.toMatchObject({ code, detail })
})
