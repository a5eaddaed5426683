import { expect, test } from 'vitest'
import { recovery, repository, status, testDestination } from './destination.ts'

const onComments = /^POST .*\/comments$/
const message = { message: 'Some reason' }

test.each([
  { code: 403, advice: 'The token lacks the right' },
  { code: 404, advice: 'There is no such repository or issue' },
  { code: 410, advice: 'The issue was deleted' },
  { code: 422, advice: 'GitHub does not accept the content.' },
  { code: 301, advice: 'The repository moved' },
])('an answer $code rejects the report, with advice', async ({ code, advice }) => {
  const { server, send } = await testDestination()
  server.plan({
    on: onComments,
    answer: { status: code, headers: { location: `${server.url}/elsewhere` }, body: message },
  })
  const result = await send(recovery())
  expect(result).toMatchObject({ kind: 'rejected', error: expect.stringContaining(advice) })
  expect(result).toHaveProperty(
    'error',
    expect.stringContaining(`Cannot write a comment on acme/shop#12: GitHub answered ${code}`),
  )
  expect(server.requests).toHaveLength(1)
})

test('a token that GitHub does not accept fails the report, so that it is sent with the next token', async () => {
  const { server, sender, send } = await testDestination()
  server.plan({ on: onComments, answer: { status: 401, body: message } })
  const failed = { kind: 'failed', error: expect.stringContaining('The token is not valid: replace it.') }
  expect(await sender.send([recovery(), status()])).toMatchObject([failed, failed])
  expect(server.requests, 'no other report is tried with this token').toHaveLength(1)
  expect(await send(recovery())).toEqual({ kind: 'delivered' })
})

test.each([
  {
    limit: { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767225660' } },
    afterMs: 61_000,
  },
  { limit: { status: 403, headers: { 'retry-after': '30' } }, afterMs: 30_000 },
  { limit: { status: 429, headers: { 'retry-after': '0' } }, afterMs: 1000 },
  { limit: { status: 429 }, afterMs: 60_000 },
  { limit: { status: 403, body: { message: 'You have exceeded a secondary rate limit' } }, afterMs: 60_000 },
])('a rate limit fails the report until the limit ends: %o', async ({ limit, afterMs }) => {
  const { server, send, sender, anotherSender, clock } = await testDestination()
  server.plan({ on: onComments, answer: { body: message, ...limit } })
  const [first, second] = await sender.send([recovery(), status()])
  expect(first).toMatchObject({ kind: 'failed', retryAfterMs: afterMs })
  expect(second).toMatchObject({ kind: 'postponed', retryAfterMs: afterMs })
  clock.nowMs += afterMs - 1
  expect(await anotherSender().send([recovery()])).toMatchObject([{ kind: 'postponed', retryAfterMs: 1 }])
  expect(server.requests, 'nothing is asked while the limit lasts').toHaveLength(1)
  clock.nowMs += 1
  expect(await send(recovery())).toEqual({ kind: 'delivered' })
  expect(server.issue(repository, 12).comments).toHaveLength(1)
})

test('a server error is repeated for an edit, and fails the report if it lasts', async () => {
  const { server, send } = await testDestination()
  const broken = { status: 502, body: message }
  server.plan({ on: /^PATCH/, answer: broken })
  await send(recovery())
  expect(await send(recovery({ at: '2026-01-01T00:10:00.000Z', silentMs: 1000 }))).toEqual({ kind: 'delivered' })
  server.plan({ on: /^PATCH/, answer: broken, times: 2 })
  expect(await send(recovery({ at: '2026-01-01T00:20:00.000Z', silentMs: 2000 }))).toMatchObject({ kind: 'failed' })
  expect(server.faultsLeft).toBe(false)
})

test('a comment that got a server error is not repeated before it was looked for', async () => {
  const { server, send } = await testDestination()
  server.plan({ on: onComments, answer: { status: 500, body: message } })
  expect(await send(recovery())).toEqual({
    kind: 'failed',
    error: 'Cannot write a comment on acme/shop#12: GitHub answered 500 (Some reason).',
  })
  expect(server.requests).toHaveLength(1)
})

test('no error and no log line shows the token', async () => {
  const { server, send, logged } = await testDestination()
  server.plan({ on: onComments, answer: { status: 422, body: { message: `rejected ${server.token}` } } })
  const result = await send(recovery())
  expect(result).toMatchObject({ kind: 'rejected', error: expect.stringContaining('[token]') })
  expect(JSON.stringify([result, logged])).not.toContain(server.token)
})

test('a report for an issue of another repository is rejected without a request', async () => {
  const { server, send } = await testDestination()
  const issue = `${server.url}/acme/other/issues/1`
  expect(await send(recovery({ issue }))).toEqual({
    kind: 'rejected',
    error: 'The repository of the run’s issue is not one of the destination’s: acme/shop.',
  })
  expect(server.requests).toEqual([])
})

test('a replica without the token fails reports, so that another one can send them', async () => {
  const { send } = await testDestination({ tokenVariable: 'NO_TOKEN_HERE' })
  expect(await send(recovery())).toEqual({
    kind: 'failed',
    error: 'There is no token. The environment variable NO_TOKEN_HERE is not set on this replica.',
  })
})

test('the test of a destination reads its repositories and writes nothing', async () => {
  const { server, sender } = await testDestination({ repositories: [repository, 'acme/other'] })
  expect(await sender.test()).toEqual({ kind: 'delivered' })
  expect(server.requests).toEqual(['GET /repos/acme/shop', 'GET /repos/acme/other'])
  const wrong = await testDestination({ repositories: ['acme/missing'] })
  expect(await wrong.sender.test()).toMatchObject({ kind: 'rejected', error: expect.stringContaining('404') })
})

test('a sender that closes ends its requests', async () => {
  const { server, sender, send } = await testDestination()
  await sender.close()
  expect(await send(recovery())).toMatchObject({ kind: 'failed', error: expect.stringContaining('the sender closes') })
  expect(server.issue(repository, 12).comments).toEqual([])
})

test('reports for which a call has no time left are left to the next one', async () => {
  const { sender } = await testDestination()
  const reports = Array.from({ length: 10 }, (_, index) => recovery({ runId: `${index}` }))
  const results = await sender.send(reports)
  expect(results.map(({ kind }) => kind)).toEqual([...Array(5).fill('delivered'), ...Array(5).fill('postponed')])
  expect(results[9]).toMatchObject({ error: 'Other reports took the time of this batch.', retryAfterMs: 1000 })
})
