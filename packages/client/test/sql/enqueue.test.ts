/** q.enqueue() of the database stores the same runs as the client, and explains each refusal. */
import { Client, type Notification } from 'pg'
import { expect, test } from 'vitest'
import type { TaskOptions } from '@q/task'
import { fixture, type Answer } from './fixture.ts'

const { url, db, store, client, session, enqueue, enqueueByClient, publish, made } = await fixture()

const options: Record<string, TaskOptions> = {
  plain: {},
  all: {
    queue: 'cpu',
    priority: -7,
    requires: ['gpu', 'avx'],
    onCrash: 'retry',
    retry: { attempts: 9 },
    timeout: '1m',
  },
  keyed: { concurrency: { key: '/user/id', limit: 3 } },
  shared: { concurrency: { key: '/user', shared: 'api' } },
  unique: { unique: 'payload', onCrash: 'fail' },
  'unique-for': { unique: { key: '/user/id', for: '1h' }, concurrency: { key: '/x' } },
}

const payloads = [{ user: { id: 'Ada' }, x: [1, { b: 1.5e30, a: null }] }, { user: { id: 'ü'.repeat(300) } }, [1], null]

test.each(Object.keys(options))('the function stores a run as the client does: %s', async (name) => {
  await publish(`client-${name}`, options[name]!)
  await publish(`sql-${name}`, options[name]!)
  for (const payload of payloads) {
    const { id: byClient } = await enqueueByClient(`client-${name}`, payload, { delay: '1h', priority: 3 })
    const bySql = await enqueue(`$1, $2, delay => '1 hour', priority => 3`, [`sql-${name}`, JSON.stringify(payload)])
    const asIfByClient: unknown = JSON.parse(
      JSON.stringify(await made(bySql.id)).replaceAll(`sql-${name}`, `client-${name}`),
    )
    expect(asIfByClient).toEqual(JSON.parse(JSON.stringify(await made(byClient))))
  }
})

test.each(Object.keys(options))('a run that waited for its task is like one enqueued later: %s', async (name) => {
  const call = `$1, $2, delay => '1 hour', run_group => 'g'`
  const waited: string[] = []
  for (const payload of payloads) {
    const { id, status } = await enqueue(call, [`gate-${name}`, JSON.stringify(payload)])
    expect(status).toBe('PENDING')
    waited.push(id)
  }
  const byClient = await enqueueByClient(`gate-${name}`, payloads[0], { delay: '1h', group: 'g' })
  await publish(`gate-${name}`, options[name]!)
  await publish(`then-${name}`, options[name]!)
  const values = async (id: string): Promise<unknown> =>
    JSON.parse(JSON.stringify(await made(id)).replaceAll(`gate-${name}`, `then-${name}`))
  for (const [place, payload] of payloads.entries()) {
    const { id } = await enqueue(call, [`then-${name}`, JSON.stringify(payload)])
    expect(await values(waited[place]!)).toEqual(await values(id))
  }
  const { rows } = await client.query(`SELECT status, result ->> 'code' AS code FROM q.task_run WHERE id = $1`, [
    byClient.id,
  ])
  const isDuplicate = name.startsWith('unique')
  expect(rows).toEqual([isDuplicate ? { status: 'SKIPPED', code: 'DUPLICATE' } : { status: 'PENDING', code: null }])
})

test('every option of a call takes precedence over the task, even if the task is published later', async () => {
  const { id } = await enqueue(`task => 'named-early', payload => '[1]', queue => 'other', delay => interval '1 day',
    priority => -1, run_group => 'tenant', unique_key => 'k', unique_for => '2 hours', expires_in => '30 minutes',
    max_attempts => 4, trace => '00-ab-cd-01'`)
  await publish('named-early', { queue: 'own', priority: 5, unique: 'payload', retry: { attempts: 2 }, expires: '1h' })
  expect(await made(id)).toMatchObject({
    queue: 'other',
    waiting_for: 'time',
    minutes: '1440',
    expires: '30',
    priority: -1,
    grp: 'tenant',
    max_attempts: 4,
    unique_key: 'k',
    period: '120',
    trace: '00-ab-cd-01',
  })
})

test('the lane of a published task exists before its first run, so no transaction has to create it', async () => {
  await publish('laned', { queue: 'lanes', requires: ['gpu', 'avx'] })
  const { rows: before } = await client.query('SELECT id, requires FROM q.lane WHERE queue = $1', ['lanes'])
  await enqueue(`'laned'`)
  const { rows: after } = await client.query('SELECT id, requires FROM q.lane WHERE queue = $1', ['lanes'])
  expect(after).toEqual(before)
  expect(after).toMatchObject([{ requires: ['avx', 'gpu'] }])
})

test('every option can be passed by name, and takes precedence over the task', async () => {
  await publish('named', { queue: 'own', priority: 5, unique: 'payload', retry: { attempts: 2 } })
  const { id, status } = await enqueue(`task => 'named', payload => '[1]', queue => 'other', delay => interval '1 day',
    priority => -1, run_group => 'tenant', unique_key => 'k', unique_for => '2 hours', expires_in => '30 minutes',
    max_attempts => 4, trace => '00-ab-cd-01'`)
  expect(status).toBe('PENDING')
  expect(await made(id)).toMatchObject({
    queue: 'other',
    waiting_for: 'time',
    minutes: '1440',
    expires: '30',
    priority: -1,
    grp: 'tenant',
    unique_key: 'k',
    period: '120',
    max_attempts: 4,
    trace: '00-ab-cd-01',
    payload: [1],
  })
})

test('an enqueue with a taken key returns the run that has it, from SQL or the client', async () => {
  await publish('greet', { unique: '/name' })
  await publish('daily', { unique: { key: '/name', for: '1d' } })
  for (const task of ['greet', 'daily']) {
    const first = await enqueue('$1, $2', [task, '{"name":"by SQL"}'])
    expect(first).toMatchObject({ duplicate: false, status: 'AVAILABLE' })
    expect(await enqueue('$1, $2', [task, '{"name":"by SQL"}'])).toEqual({ ...first, duplicate: true })
    expect(await enqueueByClient(task, { name: 'by SQL' })).toEqual({ id: first.id, duplicate: true })
    const { id } = await enqueueByClient(task, { name: 'by client' })
    expect(await enqueue('$1, $2', [task, '{"name":"by client"}'])).toEqual({
      id,
      status: 'AVAILABLE',
      duplicate: true,
    })
    await store.cancelTaskRuns([first.id as never])
    const again = await enqueue('$1, $2', [task, '{"name":"by SQL"}'])
    expect(again.duplicate).toBe(task === 'daily')
  }
})

test('a key whose period has expired is free again', async () => {
  const call = `'ages', unique_key => 'k', unique_for => '1 hour'`
  const { id } = await enqueue(call)
  await store.cancelTaskRuns([id as never])
  expect(await enqueue(call)).toEqual({ id, status: 'CANCELLED', duplicate: true })
  await db
    .updateTable('q.unique_period')
    .set({ until: new Date(0) })
    .where('task', '=', 'ages')
    .execute()
  expect(await enqueue(call)).toMatchObject({ duplicate: false })
})

test('parallel enqueues with one key, by SQL and by the store, create one run, with a period and without', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'raced' })
  const sessions = await Promise.all(Array.from({ length: 6 }, session))
  for (let round = 0; round < 20; round++) {
    const uniqueKey = `k${round}`
    const period = round % 2 === 0
    const given = period ? `, unique_for => '1 hour'` : ''
    const answers = await Promise.all([
      ...sessions.map(async (own) => {
        const { rows } = await own.query<Answer>(`SELECT * FROM q.enqueue('raced', unique_key => $1${given})`, [
          uniqueKey,
        ])
        return rows[0]!
      }),
      ...sessions.map(async () => {
        const run = { task: 'raced', lane, payload: {}, uniqueKey, ...(period && { uniqueForMs: 3_600_000 }) }
        return (await store.enqueueTaskRuns([run]))[0]!
      }),
    ])
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
  }
})

test('an enqueue is part of the caller’s transaction: a rollback removes it, and the commit wakes replicas', async () => {
  const received: string[] = []
  const listener = new Client({ connectionString: url })
  const mark = Promise.withResolvers<void>()
  listener.on('notification', ({ payload = '' }: Notification) =>
    payload === 'mark' ? mark.resolve() : received.push(payload),
  )
  await listener.connect()
  await listener.query('LISTEN q_ready; LISTEN q_gated')
  await db.insertInto('q.idle').values({ replica_id: 'idle' }).execute()
  await publish('waking', { queue: 'waking', concurrency: { key: '/k' } })
  await client.query('BEGIN')
  const { id } = await enqueue(`'waking'`)
  await client.query('ROLLBACK')
  expect(await made(id)).toBeUndefined()
  await client.query('BEGIN')
  await enqueue(`'waking'`)
  await enqueue(`'waking', '{"k":"a key"}'`)
  await client.query('COMMIT')
  await store.wakeQueue('mark')
  await mark.promise
  expect(received).toEqual(['waking', 'waking\u001Fa key'])
  await db.deleteFrom('q.idle').execute()
  await listener.end()
})
