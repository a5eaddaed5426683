import { expect, test } from 'vitest'
import { recovery, repository, status, testDestination } from './destination.ts'

const delivered = { kind: 'delivered' }
const onComments = /^POST .*\/comments$/

test('a recovery removes the assignment, comments, and changes the labels, in this order', async () => {
  const { server, send, pauses } = await testDestination({ assignee: 'q-bot' })
  const issue = server.issue(repository, 12)
  issue.labels.push('bug', 'status:in-progress')
  issue.assignees.push('q-bot', 'person')
  expect(await send(recovery())).toEqual(delivered)
  expect(server.requests).toEqual([
    'DELETE /repos/acme/shop/issues/12/assignees',
    'POST /repos/acme/shop/issues/12/comments',
    'POST /repos/acme/shop/issues/12/labels',
    'DELETE /repos/acme/shop/issues/12/labels/status%3Ain-progress',
  ])
  expect(issue.comments.map(({ body }) => body)).toEqual([
    `<!-- q:recovery:17:1 -->
⚠️ **Stale Lock Detected**

Worker \`worker-local-1\` last seen 15m 32s ago.

**Actions Taken:**
- ✅ Assignment removed
- ✅ Lock released
- ✅ Task returned to queue

Task is now available for other workers to claim.`,
  ])
  expect(issue.labels).toEqual(['bug', 'status:queued'])
  expect(issue.assignees).toEqual(['person'])
  expect(pauses).toEqual([1000, 1000, 1000])
})

test('a failed run loses its labels, and the comment says how it ended', async () => {
  const { server, send } = await testDestination()
  const issue = server.issue(repository, 12)
  issue.labels.push('status:in-progress')
  await send(recovery({ became: 'FAILED', code: 'WORKER_CRASHED' }))
  expect(issue.labels).toEqual([])
  expect(issue.comments[0]?.body).toContain('❌ Run ended FAILED (WORKER_CRASHED)')
})

test('a recovery that is sent again writes no second comment', async () => {
  const { server, send, anotherSender } = await testDestination()
  await send(recovery())
  expect(await anotherSender().send([recovery()])).toEqual([delivered])
  expect(server.issue(repository, 12).comments).toHaveLength(1)
})

test('a comment that GitHub stored without an answer is found by its marker, on any page', async () => {
  const { server, send, anotherSender } = await testDestination()
  for (let index = 0; index < 150; index++) server.comment(repository, 12, `> <!-- q:recovery:17:1 -->\nquote ${index}`)
  server.plan({ on: onComments, answer: 'close after storing' })
  expect(await send(recovery())).toMatchObject({ kind: 'failed', error: expect.stringContaining('no answer') })
  expect(await anotherSender().send([recovery({ silentMs: 5000 })])).toEqual([delivered])
  const ours = server.issue(repository, 12).comments.filter(({ user }) => user === 'q-bot')
  expect(ours).toHaveLength(1)
  expect(ours[0]?.body).toContain('last seen 5s ago')
  expect(server.requests.filter((line) => /^GET .*page=\d/.test(line))).toHaveLength(2)
})

test('a comment that was not stored is created by the next try', async () => {
  const { server, send } = await testDestination()
  server.plan({ on: onComments, answer: 'close' })
  expect(await send(recovery())).toMatchObject({ kind: 'failed' })
  expect(await send(recovery())).toEqual(delivered)
  expect(server.issue(repository, 12).comments).toHaveLength(1)
})

test('a second recovery of the run edits the comment, and creates it again if a person deleted it', async () => {
  const { server, send } = await testDestination()
  const issue = server.issue(repository, 12)
  await send(recovery())
  await send(recovery({ at: '2026-01-01T00:10:00.000Z', silentMs: 60_000 }))
  expect(issue.comments.map(({ body }) => /last seen (.*) ago/.exec(body)?.[1])).toEqual(['1m 0s'])
  server.deleteComment(issue.comments[0]?.id ?? 0)
  await send(recovery({ at: '2026-01-01T00:20:00.000Z', silentMs: 61_000 }))
  expect(issue.comments.map(({ body }) => /last seen (.*) ago/.exec(body)?.[1])).toEqual(['1m 1s'])
  await send(recovery({ at: '2026-01-01T00:05:00.000Z' }))
  expect(issue.comments[0]?.body).toContain('1m 1s')
})

test('a late recovery leaves the labels and the assignee of a run that has started again', async () => {
  const { server, send } = await testDestination({ assignee: 'q-bot' })
  await send(status({ status: 'RUNNING', at: '2026-01-01T00:00:01.000Z' }))
  await send(recovery())
  const issue = server.issue(repository, 12)
  expect(issue.labels).toEqual(['status:in-progress'])
  expect(issue.assignees).toEqual(['q-bot'])
  expect(issue.comments[0]?.body).toContain('➖ Assignment removed: the task has been started again since')
})

test('an assignment that GitHub does not let us remove is part of the comment', async () => {
  const { server, send } = await testDestination({ assignee: 'q-bot' })
  server.plan({ on: /assignees/, answer: { status: 403, body: { message: 'Resource not accessible' } } })
  expect(await send(recovery())).toEqual(delivered)
  expect(server.issue(repository, 12).comments[0]?.body).toMatch(/- ❌ Assignment not removed: `.*403/)
})

test('recoveries are sent before other reports, and a run without an issue is not reported', async () => {
  const { server, sender } = await testDestination()
  const results = await sender.send([status({ runId: '18' }), recovery({ issue: null }), recovery()])
  expect(results).toEqual([delivered, delivered, delivered])
  expect(server.requests[0]).toBe('POST /repos/acme/shop/issues/12/comments')
})

test('recoveries get writes that other reports have to leave to them', async () => {
  const { server, sender, send } = await testDestination({ labels: false, assignee: 'q-bot' })
  for (let index = 1; index <= 25; index++) {
    const running = index % 2 === 1
    server.issue(repository, 12)
    await send(status({ status: running ? 'RUNNING' : 'AVAILABLE', at: new Date(index).toISOString() }))
  }
  expect(server.requests).toHaveLength(20)
  const [late, urgent] = await sender.send([status({ status: 'RUNNING', at: new Date(30).toISOString() }), recovery()])
  expect(urgent).toEqual(delivered)
  expect(late).toMatchObject({ kind: 'postponed', error: 'The limit on writes to acme/shop is reached.' })
})
