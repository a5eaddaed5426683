/** Values that are named like secrets are hidden in every answer, and shown to an admin who asks, which the audit records. */
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { createSecrets } from '../src/secrets/secrets.ts'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { tokens, ask, store } = scene
const { inText, inValue } = createSecrets()

test('a value is hidden by the name of its member, at any depth, in any spelling', () => {
  const text =
    '{"id": 9007199254740993, "api_key": "a", "user": {"Password": "b", "list": [{"x-auth-token": ["c"]}]}, "n": 1.50}'
  expect(inText(text)).toBe(
    '{"id":9007199254740993,"api_key":"[hidden]","user":{"Password":"[hidden]","list":[{"x-auth-token":"[hidden]"}]},"n":1.50}',
  )
})

test('numbers, booleans and text without a secret stay as they are', () => {
  const text = '{"maxTokens": 512, "hasPassword": true, "secret": null, "text": "a token"}'
  expect(inText(text)).toBe(text)
  const at = new Date(0)
  expect(inValue({ at, token: 'a', list: [1] })).toEqual({ at, token: '[hidden]', list: [1] })
})

test('a member that is called __proto__ changes no prototype', () => {
  expect(inText('{"__proto__": {"token": "a"}}')).toBe('{"__proto__":{"token":"[hidden]"}}')
})

test('a reader never sees a hidden value; an admin who reveals it leaves a row in the audit', async () => {
  await store.registerReplica(registration('aaa'))
  await store.publishTasks('aaa', [{ name: 'hello', queue: 'default', options: {}, payloadSchema: null }])
  const producer = queue(scene.database.url)
  const { id } = await producer.enqueue('hello', { name: 'a', apiToken: 'very secret' })
  await producer.schedule('nightly', { task: 'hello', cron: '0 9 * * *', payload: { password: 'very secret' } })
  await producer.close()
  for (const path of [`/api/runs/${id}`, `/api/runs/${id}/payload`, '/api/schedules', '/api/schedules/nightly']) {
    const { status, text } = await ask('GET', path, { token: tokens.owner })
    expect({ path, status, isShown: text.includes('very secret') }).toEqual({ path, status: 200, isShown: false })
    expect(text).toContain('[hidden]')
  }
  const reveal = (token: string) => ask('POST', `/api/runs/${id}/reveal`, { token })
  expect((await reveal(tokens.read)).status).toBe(403)
  expect((await reveal(tokens.admin)).data.payloadText).toContain('very secret')
  const { data } = await ask('GET', '/api/actions', { token: tokens.read })
  expect(data.items[0]).toMatchObject({ what: 'reveal', by: 'oncall', subject: id, answer: 'revealed' })
})

test('the audit does not show secrets of the body of a request either', async () => {
  const body = { task: 'hello', cron: '0 9 * * *', payload: { password: 'in the body' } }
  expect((await ask('PUT', '/api/schedules/hourly', { token: tokens.admin, body })).status).toBe(200)
  const { text } = await ask('GET', '/api/actions', { token: tokens.read })
  expect(text).toContain('hourly')
  expect(text).not.toContain('in the body')
})

test('a copy with an edited payload is refused while a value in it is hidden', async () => {
  const producer = queue(scene.database.url)
  const { id } = await producer.enqueue('copied', { name: 'a', apiToken: 'very secret' })
  await producer.close()
  const body = { payloadText: '{"apiToken":"[hidden]","name":"b"}' }
  const again = await ask('POST', `/api/runs/${id}/again`, { token: tokens.owner, body })
  expect(again).toMatchObject({ status: 400, data: { code: 'PARAMETER_INVALID' } })
})

/** Runs of one task with one payload each, and the numbers of those that a reader finds by a condition. */
async function finder(task: string, payloads: readonly object[]) {
  await store.publishTasks('aaa', [{ name: task, queue: 'default', options: {}, payloadSchema: null }])
  const producer = queue(scene.database.url)
  const ids: string[] = []
  for (const payload of payloads) ids.push((await producer.enqueue(task, payload)).id)
  await producer.close()
  return async (condition: string, token = tokens.read) => {
    const query = `task=${task}&payload=${encodeURIComponent(condition)}`
    const listed = await ask('GET', `/api/runs?${query}`, { token })
    const counted = await ask('GET', `/api/runs/count?${query}`, { token })
    expect([listed.status, counted.status]).toEqual([200, 200])
    expect(counted.data.count).toBe(listed.data.runs.length)
    return (listed.data.runs as { id: string }[]).map(({ id }) => ids.indexOf(id)).toSorted((a, b) => a - b)
  }
}

test('no condition of a list finds a hidden value, neither by its member nor around it', async () => {
  const found = await finder('guessed', [
    { apiToken: 'horse', user: { 'Pass-Word': 'battery', name: 'anna' }, list: [{ secret: ['staple'] }] },
    { plain: 'horse battery staple' },
  ])
  for (const token of [tokens.read, tokens.admin]) {
    expect(await found('apiToken=horse', token)).toEqual([])
    expect(await found('apiToken~h', token)).toEqual([])
    expect(await found('user.Pass-Word~batt', token)).toEqual([])
    expect(await found('user~battery', token)).toEqual([])
    expect(await found('user={"name": "anna", "Pass-Word": "battery"}', token)).toEqual([])
    expect(await found('list.0.secret~staple', token)).toEqual([])
    expect(await found('list.0.secret.0=staple', token)).toEqual([])
    expect(await found('list~staple', token)).toEqual([])
  }
  expect(await found('~horse')).toEqual([1])
  expect(await found('~BATTERY')).toEqual([1])
  expect(await found('~staple')).toEqual([1])
  expect(await found('plain~horse b')).toEqual([1])
})

test('conditions find shown values: visible ones beside hidden ones, names, and numbers', async () => {
  const found = await finder('shown', [
    { apiToken: 'horse', user: { password: 'battery', name: 'Anna' }, maxTokens: 512, secret: null },
    { user: { name: 'Bob' }, text: 'a token of trust', maxTokens: 5 },
  ])
  expect(await found('user~ann')).toEqual([0])
  expect(await found('~anna')).toEqual([0])
  expect(await found('~apitoken')).toEqual([0])
  expect(await found('user.name=Anna')).toEqual([0])
  expect(await found('maxTokens=512')).toEqual([0])
  expect(await found('~512')).toEqual([0])
  expect(await found('~"name": "bob"')).toEqual([1])
  expect(await found('user={"name": "Bob"}')).toEqual([1])
  expect(await found('text~token of')).toEqual([1])
  expect(await found('nothing=here')).toEqual([])
})

test('an operation finds hidden values, but neither its condition nor its samples show them', async () => {
  const found = await finder('operated', [{ apiToken: 'horse' }])
  const filter = { task: 'operated', payload: 'apiToken=horse' }
  const body = { kind: 'cancel', filter }
  const counted = await ask('POST', '/api/operations', { token: tokens.admin, body: { ...body, dryRun: true } })
  expect(counted.data.match).toEqual({ count: 1, atLeast: false })
  const { data } = await ask('POST', '/api/operations', { token: tokens.admin, body })
  for (const path of ['/api/operations', `/api/operations/${data.id}`, '/api/actions?limit=2']) {
    const { text } = await ask('GET', path, { token: tokens.read })
    expect(text).toContain('apiToken=[hidden]')
    expect(text).not.toContain('horse')
  }
  expect(await found('apiToken=horse')).toEqual([])
})

test('the samples of an operation hide secrets of results', async () => {
  await store.publishTasks('aaa', [{ name: 'samples', queue: 'default', options: {}, payloadSchema: null }])
  const producer = queue(scene.database.url)
  await producer.enqueue('samples', {})
  await producer.close()
  const [lease] = await store.claimAvailableTaskRuns({ replicaId: 'aaa', tasks: ['samples'], queues: [], limit: 1 })
  const by = { hostname: 'h', pid: 1, thread: 0 }
  await store.settleTaskRuns([{ lease: lease!, outcome: { status: 'SUCCEEDED', result: '{"token":"horse"}' }, by }])
  const body = { kind: 'retry', filter: { task: 'samples', status: ['done'] }, dryRun: true }
  const { data } = await ask('POST', '/api/operations', { token: tokens.admin, body })
  expect(data.samples).toMatchObject([{ resultText: '{"token":"[hidden]"}' }])
})

test('an operation does not show a secret of a condition that compares a whole object', async () => {
  const filter = { task: 'operated', payload: 'user={"Pass-Word": "battery"}' }
  const { data } = await ask('POST', '/api/operations', { token: tokens.admin, body: { kind: 'cancel', filter } })
  for (const path of [`/api/operations/${data.id}`, '/api/actions?limit=2']) {
    const { text } = await ask('GET', path, { token: tokens.read })
    expect(text).toContain('user=[hidden]')
    expect(text).not.toContain('battery')
  }
})
