/** Destinations over HTTP: what each route does, and what it refuses. */
import { afterAll, expect, test } from 'vitest'
import { serverScene } from './scene.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, tokens, store } = scene
const token = tokens.admin
const log = { kind: 'log', reports: ['status'] }

test('a destination is created, changed, tested, paused, resumed and removed', async () => {
  const put = (body: object) => ask('PUT', '/api/destinations/dev', { token, body })
  expect(await put(log)).toMatchObject({ status: 200, data: { answer: 'made' } })
  expect(await put(log)).toMatchObject({ data: { answer: 'unchanged' } })
  expect(await put({ ...log, tasks: ['a'] })).toMatchObject({ data: { answer: 'changed' } })
  const act = (order: string, body: object = {}) => ask('POST', `/api/destinations/dev/${order}`, { token, body })
  expect(await act('test')).toMatchObject({ status: 200, data: { answer: 'delivered', error: null } })
  expect(await act('pause', { reason: 'maintenance' })).toMatchObject({ data: { answer: 'paused' } })
  const { data } = await ask('GET', '/api/destinations', { token })
  expect(data.items).toMatchObject([
    { name: 'dev', pausedBy: 'oncall', pauseReason: 'maintenance', waiting: { count: 0, atLeast: false } },
  ])
  expect(await act('resume')).toMatchObject({ data: { answer: 'resumed' } })
  expect(await act('redeliver')).toMatchObject({ data: { redelivered: 0 } })
  expect(await ask('DELETE', '/api/destinations/dev', { token })).toMatchObject({ data: { answer: 'removed' } })
  for (const order of ['test', 'pause', 'resume', 'redeliver'])
    expect([order, (await act(order)).status]).toEqual([order, 404])
})

test('a destination with mistakes, or with a secret instead of its name, is refused with 422', async () => {
  const settings = { url: 'http://example.com/', secretVariable: 'ghp_abcdefghijklmnop1234' }
  const body = { kind: 'webhook', reports: ['status'], settings }
  const { status, data } = await ask('PUT', '/api/destinations/hook', { token, body })
  expect([status, data.code]).toEqual([422, 'DESTINATION_INVALID'])
  expect(data.why).toContain('https:')
  expect(data.why).toContain('looks like a secret')
  expect(JSON.stringify(data)).not.toContain('ghp_')
  expect(await store.listDestinations()).toEqual([])
})

test('a setting that starts a program or decides where a token is sent is refused over HTTP', async () => {
  const reports = ['recovery']
  const memory = { kind: 'memory', reports, settings: { file: '/tmp/memory.jsonl', command: ['/bin/sh'] } }
  const settings = { issue: '/issue', repositories: ['acme/shop'], tokenVariable: 'DATABASE_URL' }
  const github = { kind: 'github', reports, settings: { ...settings, apiUrl: 'https://example.com' } }
  for (const [body, setting] of [[memory, 'command'] as const, [github, 'apiUrl'] as const]) {
    const { status, data } = await ask('PUT', '/api/destinations/elsewhere', { token, body })
    expect([status, data.why]).toEqual([422, expect.stringContaining(`"${setting}" cannot be set over HTTP`)])
  }
  expect(await store.listDestinations()).toEqual([])
})

test('a report is sent again, unless a newer one about its run was delivered', async () => {
  await store.putDestination({ name: 'dev', kind: 'log', reports: ['status'] })
  const lane = await store.internLane({ queue: 'default', task: 'a' })
  const [run] = await store.enqueueTaskRuns([{ task: 'a', lane, payload: {} }])
  await store.cancelTaskRuns([run!.id])
  const ids: string[] = []
  for (const outcome of [{ kind: 'rejected', error: 'no' }, { kind: 'delivered' }] as const) {
    const [leased] = await store.leaseDeliveries({ destination: 'dev', holder: 'h', limit: 1, forMs: 1_000 })
    await store.markDeliveries('h', [{ id: leased!.id, revision: 1, outcome }])
    ids.push(leased!.id)
  }
  const redeliver = (id: string) => ask('POST', `/api/deliveries/${id}/redeliver`, { token })
  expect(await redeliver(ids[0]!)).toMatchObject({ status: 409, data: { state: 'superseded' } })
  expect(await redeliver(ids[1]!)).toMatchObject({ status: 200, data: { answer: 'due' } })
  expect(await redeliver('999999')).toMatchObject({ status: 404 })
  await store.removeDestination('dev')
})
