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
  const { data } = await ask('GET', '/api/runs', { token: tokens.owner })
  const body = { payloadText: '{"apiToken":"[hidden]","name":"b"}' }
  const again = await ask('POST', `/api/runs/${data.runs[0].id}/again`, { token: tokens.owner, body })
  expect(again).toMatchObject({ status: 400, data: { code: 'PARAMETER_INVALID' } })
})
