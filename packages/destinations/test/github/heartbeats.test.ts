import { expect, test } from 'vitest'
import { heartbeat, heartbeatData, repository, testDestination } from './destination.ts'

const run = { runId: '17', epoch: 1, task: 'build', queue: 'default', issue: '12' }
const delivered = { kind: 'delivered' }
const minute = 60_000
const after = (minutes: number): number => heartbeatData.timestamp + minutes * minute

test('heartbeats edit one comment per run, at most every five minutes', async () => {
  const { server, send } = await testDestination()
  for (let minutes = 0; minutes <= 10; minutes++)
    expect(
      await send(heartbeat({ timestamp: after(minutes), current_tasks: Array.from({ length: minutes }, String) })),
    ).toEqual(delivered)
  const { comments } = server.issue(repository, 12)
  expect(comments).toHaveLength(1)
  expect(comments[0]?.body).toMatch(
    /^<!-- q:heartbeat:17:1 -->\n💓 \*\*Worker Heartbeat\*\*\n\nWorker: `worker-local-1`\n/,
  )
  expect(comments[0]?.body).toContain('Active Tasks: 10')
  expect(server.requests.map((line) => line.split(' ')[0])).toEqual(['POST', 'PATCH', 'PATCH'])
})

test('a heartbeat that differs only in its timestamp does not edit the comment', async () => {
  const { server, send } = await testDestination()
  await send(heartbeat())
  await send(heartbeat({ timestamp: after(5) }))
  expect(server.requests).toHaveLength(1)
})

test('a heartbeat comment that a person deleted is not created again', async () => {
  const { server, send } = await testDestination()
  await send(heartbeat())
  const issue = server.issue(repository, 12)
  server.deleteComment(issue.comments[0]?.id ?? 0)
  for (const minutes of [5, 10, 15])
    expect(await send(heartbeat({ timestamp: after(minutes), capacity_available: minutes }))).toEqual(delivered)
  expect(issue.comments).toEqual([])
  expect(server.requests).toHaveLength(2)
})

test('a run of another repository gets no heartbeat, and does not keep others from theirs', async () => {
  const { server, send } = await testDestination()
  const foreign = { ...run, runId: '18', issue: `${server.url}/acme/other/issues/12` }
  server.issue('acme/other', 12)
  expect(await send(heartbeat({}, [foreign, { ...run, runId: '19', issue: null }, run]))).toEqual(delivered)
  expect(server.issue('acme/other', 12).comments).toEqual([])
  expect(server.issue(repository, 12).comments).toHaveLength(1)
})

test('an issue that does not exist rejects the report, and the other issues have their comments', async () => {
  const { server, send } = await testDestination()
  expect(await send(heartbeat({}, [{ ...run, runId: '18', issue: '404' }, run]))).toMatchObject({
    kind: 'rejected',
    error: expect.stringContaining('Cannot write a comment on acme/shop#404: GitHub answered 404') as string,
  })
  expect(server.issue(repository, 12).comments).toHaveLength(1)
})

test('above 20 active workers of a repository, each issue has one table', async () => {
  const { server, send, clock } = await testDestination()
  for (let worker = 1; worker <= 25; worker++) {
    clock.nowMs += minute
    await send(heartbeat({ worker_id: `w${worker}`, timestamp: after(worker / 100) }, [{ ...run, runId: `${worker}` }]))
  }
  await send(heartbeat({ worker_id: 'w25', timestamp: after(6) }, [{ ...run, runId: '25' }]))
  const bodies = server.issue(repository, 12).comments.map(({ body }) => body)
  expect(bodies.filter((body) => body.startsWith('<!-- q:heartbeat:'))).toHaveLength(20)
  const tables = bodies.filter((body) =>
    body.startsWith('<!-- q:heartbeats:acme/shop#12 -->\n💓 **Worker Heartbeats**'),
  )
  expect(tables).toHaveLength(1)
  expect(tables[0]).toContain('Workers: 25')
  expect(tables[0]?.match(/^\| `w\d+`/gm)).toHaveLength(25)
})

test('the table can have an issue of its own, and names workers of all issues that were alive lately', async () => {
  const { server, send, clock } = await testDestination({ heartbeatIssue: 99 })
  server.issue(repository, 99)
  await send(heartbeat({ worker_id: 'gone', timestamp: after(-20) }))
  for (let worker = 1; worker <= 21; worker++) {
    server.issue(repository, worker)
    clock.nowMs += minute
    await send(heartbeat({ worker_id: `w${worker}` }, [{ ...run, runId: `${worker}`, issue: `${worker}` }]))
  }
  const table = server.issue(repository, 99).comments
  expect(table).toHaveLength(1)
  expect(table[0]?.body).toContain('Workers: 21')
  expect(server.issue(repository, 21).comments).toEqual([])
})

test('heartbeats that exceed the limit on writes are skipped, and the log says so', async () => {
  const { server, send, logged, clock } = await testDestination()
  const runs = Array.from({ length: 25 }, (_, index) => ({ ...run, runId: `${index}` }))
  expect(await send(heartbeat({}, runs)), 'a call has 12 s').toMatchObject({ kind: 'postponed', retryAfterMs: 1000 })
  expect(await send(heartbeat({}, runs))).toEqual(delivered)
  const { comments } = server.issue(repository, 12)
  expect(comments).toHaveLength(20)
  expect(logged).toEqual(['info skipped heartbeat comments: limit on writes reached {"repository":"acme/shop"}'])
  clock.nowMs += minute
  expect(await send(heartbeat({ timestamp: after(6), capacity_available: 1 }, runs))).toMatchObject({
    kind: 'postponed',
  })
  expect(comments, 'the runs without a comment come first').toHaveLength(25)
})

test('workers are anonymised by a secret, the same in every comment', async () => {
  const settings = { workerSecretVariable: 'WORKER_SECRET' }
  const { server, send } = await testDestination(settings, { WORKER_SECRET: 'pepper' })
  await send(heartbeat())
  const [, name] = /Worker: `(.*)`/.exec(server.issue(repository, 12).comments[0]?.body ?? '') ?? []
  expect(name).toMatch(/^worker-[\da-f]{8}$/)
  const other = await testDestination(settings, { WORKER_SECRET: 'salt' })
  await other.send(heartbeat())
  expect(other.server.issue(repository, 12).comments[0]?.body).not.toContain(name)
  const without = await testDestination(settings)
  expect(await without.send(heartbeat())).toMatchObject({ kind: 'failed' })
  expect(without.server.requests).toEqual([])
})

test('ids of workers are sanitised', async () => {
  const { server, send } = await testDestination()
  await send(heartbeat({ worker_id: '@acme/all `#1` <!-- -->' }))
  expect(server.issue(repository, 12).comments[0]?.body).toContain('Worker: `_acme_all___1____--_--_`')
})

test('an alert is a comment on the configured issue', async () => {
  const { server, sender } = await testDestination({ heartbeatIssue: 12 })
  const payload = { worker_id: 'w1', timestamp: 0, error: 'connection refused', consecutive_failures: 3 }
  const report = { id: '1', kind: 'alert', subject: 'w1', createdAt: new Date(0), attempt: 1, payload } as const
  await sender.send([report])
  expect(server.issue(repository, 12).comments[0]?.body).toBe(`<!-- q:alert:w1 -->
🚨 **Heartbeat Alert**

Worker \`w1\` failed to send 3 heartbeats in a row.
Timestamp: 1970-01-01T00:00:00.000Z
Error: \`connection refused\``)
})
