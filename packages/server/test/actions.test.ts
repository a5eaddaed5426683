/** Actions: what each does to the database, what it answers, and the row that it leaves in the audit. */
import { afterAll, expect, test } from 'vitest'
import { serverScene } from './scene.ts'
import { registration, seed } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, tokens, store } = scene
const ids = await seed(store, scene.database.url)
const token = tokens.admin

async function lastAction() {
  const { items } = await store.listActions({ limit: 1 })
  const { by, via, what, subject, answer } = items[0]!
  return { by, via, what, subject, answer }
}

test('a drain is ordered with 202 and the node, repeated without harm, and undone', async () => {
  const order = () => ask('POST', '/api/nodes/node-aaa/drain', { token, body: { deadlineMs: 60_000 } })
  for (const answer of [await order(), await order()]) {
    expect(answer).toMatchObject({
      status: 202,
      data: { id: 'aaa', state: 'draining', drain: { by: 'oncall', onDeadline: 'by-task' } },
    })
  }
  expect(await lastAction()).toEqual({
    by: 'oncall',
    via: 'api',
    what: 'drain',
    subject: 'node-aaa',
    answer: 'draining',
  })
  const undone = await ask('DELETE', '/api/nodes/aaa/drain', { token })
  expect(undone).toMatchObject({ status: 200, data: { state: 'alive', drain: null } })
  expect(await ask('DELETE', '/api/nodes/aaa/drain', { token })).toMatchObject({ status: 200 })
})

test('the last order decides about deadline and outcome; a body is not needed', async () => {
  await store.registerReplica(registration('ccc'))
  await ask('POST', '/api/nodes/ccc/drain', { token, body: { deadlineMs: 1_000, onDeadline: 'fail' } })
  const { data } = await ask('POST', '/api/nodes/ccc/drain', { token })
  expect(data.drain).toMatchObject({ deadline: null, onDeadline: 'by-task' })
})

test('a node that is leaving or has left cannot be undrained, and says why', async () => {
  await store.registerReplica(registration('ddd'))
  await store.announceLeaving('ddd', { deadlineMs: 60_000 })
  const leaving = await ask('DELETE', '/api/nodes/ddd/drain', { token })
  expect(leaving).toMatchObject({ status: 409, data: { code: 'CONFLICT', state: 'leaving' } })
  expect(await lastAction()).toMatchObject({ what: 'undrain', subject: 'node-ddd', answer: 'CONFLICT' })
  await store.retireReplica('ddd')
  expect(await ask('POST', '/api/nodes/ddd/drain', { token })).toMatchObject({
    status: 409,
    data: { state: 'stopped' },
  })
})

test('a run is enqueued once per idempotency key', async () => {
  const enqueue = (key: string) =>
    ask('POST', '/api/runs', {
      token: tokens.enqueue,
      body: { task: 'hello', payload: { name: key } },
      headers: { 'Idempotency-Key': key },
    })
  const first = await enqueue('a')
  expect(first).toMatchObject({ status: 201, data: { status: 'AVAILABLE', duplicate: false } })
  expect(first.headers.get('Location')).toBe(`/api/runs/${first.data.runId}`)
  expect(await enqueue('a')).toMatchObject({ status: 200, data: { runId: first.data.runId, duplicate: true } })
  expect((await enqueue('b')).data.runId).not.toBe(first.data.runId)
})

test('a payload that does not match its task is refused with 422, at its place', async () => {
  const answer = await ask('POST', '/api/runs', { token, body: { task: 'hello', payload: { name: 5 } } })
  expect(answer).toMatchObject({
    status: 422,
    data: {
      code: 'INVALID_PAYLOAD',
      why: expect.stringContaining('/name'),
      errors: [{ at: 'payload/name', problem: 'must be string' }],
    },
  })
  const digits = await ask('POST', '/api/runs', {
    token,
    body: { task: 'hello', payloadText: '{"n": 9007199254740993}' },
  })
  expect(digits).toMatchObject({ status: 400, data: { errors: [{ at: 'payloadText' }] } })
})

test('runs are cancelled, retried and run again, or the state that is in the way is named', async () => {
  expect(await ask('POST', `/api/runs/${ids.waitingId}/cancel`, { token })).toMatchObject({
    data: { answer: 'cancelled' },
  })
  expect(await ask('POST', `/api/runs/${ids.waitingId}/cancel`, { token })).toMatchObject({
    status: 409,
    data: { state: 'already-ended' },
  })
  expect(await ask('POST', `/api/runs/${ids.heldId}/cancel`, { token })).toMatchObject({
    data: { answer: 'requested' },
  })
  expect(await ask('POST', `/api/runs/${ids.failedId}/retry`, { token })).toMatchObject({ data: { answer: 'retried' } })
  expect(await ask('POST', `/api/runs/${ids.failedId}/retry`, { token })).toMatchObject({
    status: 409,
    data: { state: 'not-ended' },
  })
  const again = await ask('POST', `/api/runs/${ids.endedId}/again`, {
    token,
    body: { payloadText: '{"name":"x","n":9007199254740993}' },
  })
  expect(again.status).toBe(201)
  expect((await ask('GET', `/api/runs/${again.data.runId}/payload`, { token })).text).toContain('9007199254740993')
  expect((await ask('GET', `/api/runs/${again.data.runId}`, { token })).data.again.of).toBe(ids.endedId)
  for (const action of ['cancel', 'retry', 'again'])
    expect(await ask('POST', `/api/runs/999999/${action}`, { token })).toMatchObject({ status: 404 })
})

test('a queue is paused with a reason, and resumed', async () => {
  const paused = await ask('PUT', '/api/queues/default/pause', { token, body: { reason: 'bad deploy' } })
  expect(paused.data).toMatchObject({ paused: true, pausedBy: 'oncall', pauseReason: 'bad deploy' })
  expect((await ask('DELETE', '/api/queues/default/pause', { token })).data).toMatchObject({ paused: false })
  const changes = { limits: [{ scope: 'hello', limit: 3 }], weights: [{ group: 'a', weight: 5 }] }
  expect((await ask('PATCH', '/api/queues/default', { token, body: changes })).data).toEqual({
    queue: 'default',
    changed: 2,
  })
})

test('an operation is counted first, then requested, then stopped', async () => {
  const body = { kind: 'retry', filter: { status: ['done'], node: 'node-aaa' } }
  const counted = await ask('POST', '/api/operations', { token, body: { ...body, dryRun: true } })
  expect(counted).toMatchObject({ status: 202, data: { dryRun: true, match: { count: 1, atLeast: false } } })
  const asked = await ask('POST', '/api/operations', { token, body })
  expect(asked).toMatchObject({ status: 202, data: { kind: 'retry', askedBy: 'oncall' } })
  expect(asked.headers.get('Location')).toBe(`/api/operations/${asked.data.id}`)
  const stopped = await ask('DELETE', `/api/operations/${asked.data.id}`, { token })
  expect(['stopping', 'stopped']).toContain(stopped.data.state)
  const unknown = await ask('POST', '/api/operations', { token, body: { kind: 'retry', filter: { colour: 'red' } } })
  expect(unknown).toMatchObject({ status: 400, data: { code: 'PARAMETER_INVALID' } })
})

test('a workflow is paused, resumed and cancelled', async () => {
  const order = (what: string) => ask('POST', `/api/workflows/${ids.workflowId}/${what}`, { token })
  expect((await order('pause')).data).toEqual({ answer: 'paused' })
  expect((await order('resume')).data).toEqual({ answer: 'resumed' })
  expect(await order('resume')).toMatchObject({ status: 409, data: { state: 'not-paused' } })
  expect(await order('retry-failed')).toMatchObject({ status: 409 })
  expect((await order('cancel')).status).toBe(200)
})

test('a schedule is made, paused, resumed, run and removed', async () => {
  const body = { task: 'hello', cron: '*/5 * * * *', payload: { name: 's' } }
  expect(await ask('PUT', '/api/schedules/often', { token, body })).toMatchObject({
    status: 200,
    data: { cron: '*/5 * * * *' },
  })
  const order = (what: string) => ask('POST', `/api/schedules/often/${what}`, { token })
  expect((await order('pause')).data).toEqual({ answer: 'paused' })
  expect((await order('resume')).data).toEqual({ answer: 'resumed' })
  expect(await order('run')).toMatchObject({ status: 201, data: { runId: expect.any(String) } })
  expect((await ask('DELETE', '/api/schedules/often', { token })).data).toEqual({ answer: 'removed' })
  expect(await order('run')).toMatchObject({ status: 404 })
})

test('recoveries are reviewed, and stale runs recovered', async () => {
  const { data } = await ask('GET', '/api/recoveries', { token })
  const reviewed = await ask('POST', '/api/recoveries/review', { token, body: { ids: [data.items[0].id] } })
  expect(reviewed.data).toEqual({ reviewed: expect.any(Number) })
  expect((await ask('POST', '/api/recover', { token, body: { dryRun: true } })).data).toEqual({
    dryRun: true,
    ids: [],
    count: 0,
    leftAlone: null,
    locked: [],
    stuck: [],
  })
  expect((await ask('POST', '/api/recover', { token })).data).toMatchObject({ dryRun: false })
  expect(await ask('PUT', '/api/errors/none/mute', { token, body: { untilMs: 60_000 } })).toMatchObject({ status: 404 })
})

test('every action is recorded with its actor, channel and subject', async () => {
  await store.registerReplica(registration('eee'))
  const order = async (method: string, path: string, body?: object) =>
    (await ask(method, path, { token, ...(body && { body }) })).data
  await order('POST', '/api/nodes/eee/drain')
  await order('DELETE', '/api/nodes/eee/drain')
  const { runId } = await order('POST', '/api/runs', { task: 'hello', payload: { name: 'recorded' } })
  await order('POST', `/api/runs/${runId}/cancel`)
  await order('POST', `/api/runs/${runId}/retry`)
  await order('POST', `/api/runs/${ids.endedId}/again`, { payloadText: '{"name":"x"}' })
  await order('PUT', '/api/queues/recorded/pause', { reason: 'a reason' })
  await order('POST', '/api/operations', { kind: 'retry', filter: { task: 'none' } })
  await order('POST', '/api/recoveries/review', { runIds: [runId] })
  const { items } = await store.listActions({ limit: 9 })
  expect(items.toReversed().map(({ what, subject }) => [what, subject])).toEqual([
    ['drain', 'node-eee'],
    ['undrain', 'node-eee'],
    ['enqueue', `run ${runId}`],
    ['cancel', runId],
    ['retry', runId],
    ['run-again', ids.endedId],
    ['pause-queue', 'recorded'],
    ['start-operation', 'retry'],
    ['review', expect.any(String)],
  ])
  expect(items.map(({ by, via }) => [by, via])).toEqual(items.map(() => ['oncall', 'api']))
  expect(scene.faults).toEqual([])
})
