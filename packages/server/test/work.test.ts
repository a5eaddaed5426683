/** Workers over HTTP: they claim, send heartbeats and finish runs, and are recovered like every other holder. */
import { afterAll, expect, test } from 'vitest'
import { addNamedToken } from '@q/server'
import { serverScene } from './scene.ts'
import { workScene } from './work-scene.ts'

const scene = await serverScene()

afterAll(() => scene.close())

const { store, db, tokens } = scene

const { work, newWorker, busyWorker, rowOf } = workScene(scene)

test('the first claim registers the worker as a node with its own thresholds', async () => {
  const { data, replicaId } = await busyWorker({
    more: { workerName: 'agent one', hostname: 'far', pid: 7, slots: 3, beatEveryMs: 5_000 },
  })
  expect(data).toMatchObject({ workerName: 'agent one', draining: false })
  const [node] = await store.findNode(replicaId)
  expect(node).toMatchObject({
    name: 'agent one',
    hostname: 'far',
    pid: 7,
    slots: 3,
    preset: 'external',
    state: 'alive',
    presence: 'none',
    recovers: false,
    thresholds: { replicaBeatMs: 5_000, replicaStaleMs: 120_000, runnerStaleMs: 120_000 },
  })
})

test('payload and result are exact JSON text', async () => {
  const { task, claim, write } = newWorker()
  await claim({ limit: 0 })
  await scene.ask('POST', '/api/runs', { token: tokens.enqueue, body: { task, payloadText: '{"n":1.50}' } })
  const { data } = await claim()
  expect(data.runs).toMatchObject([{ task, payloadText: '{"n": 1.5}', attempt: 1 }])
  const resultText = '{"big": 9007199254740993}'
  expect(await write('finish', data.runs[0], { resultText })).toMatchObject({ data: { answer: 'settled' } })
  const { text } = await scene.ask('GET', `/api/runs/${data.runs[0].runId}/result`, { token: tokens.read })
  expect(text).toBe(resultText)
})

test('a task that a worker defines is published with its options', async () => {
  const { task, claim } = newWorker()
  const retry = { attempts: 5, delayMs: 10 }
  await claim({ tasks: [{ name: task, queue: 'far', onCrash: 'retry', retry }], limit: 0 })
  const published = (await store.publishedTasks()).find(({ name }) => name === task)
  expect(published).toMatchObject({
    queue: 'far',
    onCrash: 'retry',
    options: { retry: { ...retry, maxDelayMs: 3_600_000 } },
  })
})

test('a worker changes the options of tasks that its token published, and of no other', async () => {
  const [own, other] = [newWorker(), newWorker()]
  const retry = { attempts: 5 }
  await store.publishTasks('replica', [{ name: other.task, queue: 'cpu', options: {}, payloadSchema: null }])
  await own.claim({ limit: 0 })
  for (const { task, claim } of [own, other]) await claim({ tasks: [{ name: task, queue: 'far', retry }], limit: 0 })
  const published = await store.publishedTasks()
  expect(published.find(({ name }) => name === own.task)).toMatchObject({ queue: 'far', options: { retry } })
  expect(published.find(({ name }) => name === other.task)).toMatchObject({ queue: 'cpu', publishedBy: 'replica' })
})

test('a token changes no task of a token whose name begins with its own', async () => {
  const { task } = newWorker()
  const [longer, shorter] = ['team:ci', 'team'].map((name) => addNamedToken(scene.tokensFile, { name, scope: 'work' }))
  await expect.poll(async () => (await work('GET', '/api/workers/w/runs', undefined, shorter)).status).toBe(200)
  const publish = (queue: string, token: string | undefined) =>
    work('POST', '/api/claims', { workerId: 'w', tasks: [{ name: task, queue }], limit: 0 }, token)
  for (const { status } of [await publish('ci', longer), await publish('far', shorter)]) expect(status).toBe(200)
  const published = (await store.publishedTasks()).find(({ name }) => name === task)
  expect(published).toMatchObject({ queue: 'ci', publishedBy: 'team:ci:w' })
})

test('a run that was not started has no outcome, and stays with the worker that claimed it', async () => {
  const { run, write } = await busyWorker({ more: { start: false } })
  expect(await write('finish', run, { resultText: '1' })).toMatchObject({
    status: 409,
    data: {
      code: 'CONFLICT',
      state: 'CLAIMED',
      fix: expect.stringContaining(`/api/runs/${run.runId}/start`) as string,
    },
  })
  expect(await write('beat', run)).toMatchObject({ data: { answer: 'alive' } })
  expect(await write('start', run)).toMatchObject({ data: { answer: 'started' } })
})

test('a run that is claimed without a start begins when the worker starts it', async () => {
  const { run, write, replicaId } = await busyWorker({ more: { start: false } })
  expect(await rowOf(run)).toMatchObject({ status: 'CLAIMED', attempt: 0 })
  for (let time = 1; time <= 2; time++) {
    // The second one is a repeat, because the answer was lost.
    expect(await write('start', run)).toMatchObject({ data: { answer: 'started' } })
    expect(await rowOf(run)).toMatchObject({ status: 'RUNNING', attempt: 1, replica_id: replicaId })
  }
  expect(await write('finish', run, { resultText: '1' })).toMatchObject({ data: { answer: 'settled' } })
})

test('an error is retried as the task says, until no attempt is left', async () => {
  const retry = { attempts: 2, backoff: 'fixed', delayMs: 0, maxDelayMs: 0 }
  const { run, write, claim } = await busyWorker({ options: { retry } })
  expect(await write('finish', run, { error: { message: 'first' } })).toMatchObject({ data: { answer: 'retried' } })
  await store.promoteDueTaskRuns(10)
  const { data } = await claim()
  expect(data.runs).toMatchObject([{ runId: run.runId, attempt: 2 }])
  const error = { message: 'second', stack: 'at line 2' }
  expect(await write('finish', data.runs[0], { error })).toMatchObject({ data: { answer: 'settled' } })
  expect(await rowOf(run)).toMatchObject({ status: 'FAILED', result: { code: 'TASK_ERROR', detail: 'second' } })
})

test('a worker can forbid the retry of an error', async () => {
  const { run, write } = await busyWorker()
  await write('finish', run, { error: { message: 'permanent', retry: 'never' } })
  expect(await rowOf(run)).toMatchObject({ status: 'FAILED', attempt: 1 })
})

test('the heartbeat of a run keeps run and worker alive, and stores progress', async () => {
  const { run, write, silence, replicaId } = await busyWorker()
  await silence()
  const stats = { cpuPercent: 12.5, memoryMb: 100, completed: 4 }
  const { data } = await write('beat', run, { progress: 0.5, note: 'half', stats })
  expect(data).toEqual({ answer: 'alive', registered: true, draining: false })
  expect((await store.reap({ by: 'test' })).ids).not.toContain(run.runId)
  const [view] = await store.getTaskRuns([run.runId])
  expect(view).toMatchObject({ progress: 0.5, note: 'half' })
  expect(await store.nodeHeartbeat(replicaId)).toMatchObject({ metrics: { cpu_usage: 12.5, tasks_completed: 4 } })
})

test('secrets in the notes and errors of a worker are not stored', async () => {
  const { run, write } = await busyWorker()
  await write('beat', run, { note: 'copying to https://canary-note@example.org' })
  const [view] = await store.getTaskRuns([run.runId])
  expect(view?.note).toBe('copying to https://***@example.org')
  const stack = 'Error\n    at Authorization: Bearer canary-stack'
  await write('finish', run, { error: { message: 'postgres://q:canary-message@db/q', stack, retry: 'never' } })
  expect(await rowOf(run)).toMatchObject({ status: 'FAILED', result: { detail: 'postgres://q:***@db/q' } })
  const attempts = await db.selectFrom('q.task_attempt').selectAll().where('run_id', '=', run.runId).execute()
  const stored = JSON.stringify([attempts, await rowOf(run)])
  expect(stored).toContain('Bearer ***')
  expect(stored).not.toContain('canary')
})

test('runs of a silent worker are recovered, and its late writes are refused', async () => {
  const { run, write, silence } = await busyWorker()
  await silence()
  expect((await store.reap({ by: 'test' })).ids).toContain(run.runId)
  expect(await rowOf(run)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  const late = { start: {}, beat: {}, release: {}, finish: { resultText: '1' } }
  for (const [verb, more] of Object.entries(late))
    expect(await write(verb, run, more)).toMatchObject({ status: 409, data: { code: 'LEASE_LOST' } })
  const events = await db.selectFrom('q.task_event').select('kind').where('run_id', '=', run.runId).execute()
  const refused = ['refused-start', 'refused-beat', 'refused-settle']
  expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(refused))
})

test('the lease of a worker is worth nothing to another worker or token', async () => {
  const { run, write, workerId } = await busyWorker()
  const result = { resultText: '1' }
  expect(await write('finish', run, { ...result, workerId: 'another' })).toMatchObject({ status: 409 })
  expect(await write('finish', run, result, tokens.otherWork)).toMatchObject({ status: 409 })
  const held = `/api/workers/${workerId}/runs`
  expect((await work('GET', held, undefined, tokens.otherWork)).data).toEqual({ items: [] })
  const { runId, fence } = run
  expect((await work('GET', held)).data).toEqual({ items: [{ runId, fence, status: 'RUNNING' }] })
  expect(await write('finish', run, result)).toMatchObject({ status: 200 })
})

test('a worker learns of a cancel by its heartbeat, and finishes the run as cancelled', async () => {
  const { run, write } = await busyWorker()
  await store.cancelTaskRuns([run.runId])
  expect(await write('beat', run)).toMatchObject({ data: { answer: 'cancelled' } })
  expect(await write('finish', run, { cancelled: true })).toMatchObject({ data: { answer: 'settled' } })
  expect(await rowOf(run)).toMatchObject({ status: 'CANCELLED' })
})

test('a draining worker gets no run, and one that leaves releases its runs', async () => {
  const { task, run, write, claim, replicaId, workerId } = await busyWorker()
  await store.drainReplica(replicaId, { by: 'ada' })
  expect((await write('beat', run)).data).toMatchObject({ draining: true })
  await scene.ask('POST', '/api/runs', { token: tokens.enqueue, body: { task } })
  expect((await claim()).data).toMatchObject({ draining: true, runs: [] })
  const { data } = await work('DELETE', `/api/workers/${workerId}`)
  expect(data.released).toEqual([run.runId])
  expect(await rowOf(run)).toMatchObject({ status: 'AVAILABLE', attempt: 0 })
  expect(await store.findNode(replicaId)).toMatchObject([{ state: 'stopped' }])
})

test('a worker whose row was removed registers again with its next claim', async () => {
  const { run, write, claim, replicaId } = await busyWorker()
  await db.deleteFrom('q.replica').where('id', '=', replicaId).execute()
  expect((await write('beat', run)).data).toMatchObject({ answer: 'alive', registered: false })
  await claim({ limit: 0 })
  expect((await write('beat', run)).data).toMatchObject({ registered: true })
})

test.each([
  ['a threshold below two intervals', { beatEveryMs: 60_000, staleAfterMs: 90_000 }],
  ['a threshold beyond the bounds', { staleAfterMs: 7_200_000 }],
  ['an id that is not a name', { workerId: 'a:b' }],
])('%s is refused', async (_, more) => {
  expect(await newWorker().claim(more)).toMatchObject({ status: 400, data: { code: 'PARAMETER_INVALID' } })
})

test.each([
  [{}, 400, 'PARAMETER_INVALID'],
  [{ resultText: '1', error: { message: 'both' } }, 400, 'PARAMETER_INVALID'],
  [{ resultText: '{' }, 400, 'PARAMETER_INVALID'],
  [{ resultText: '"\\u0000"' }, 422, 'INVALID_RESULT'],
  [{ resultText: `"${'x'.repeat(1_048_576)}"` }, 422, 'RESULT_TOO_LARGE'],
])('an outcome that cannot be stored is refused, and the run stays held (%#)', async (outcome, status, code) => {
  const { run, write } = await busyWorker()
  expect(await write('finish', run, outcome)).toMatchObject({ status, data: { code } })
  expect(await rowOf(run)).toMatchObject({ status: 'RUNNING', fence: run.fence })
})

test('text that the database cannot store is refused with 400, and the worker keeps its run', async () => {
  const { write, run, claim } = await busyWorker()
  expect(await write('beat', run, { note: 'a\0b' })).toMatchObject({ status: 400 })
  expect(await claim({ queues: ['a\0b'] })).toMatchObject({ status: 400 })
  expect(await write('beat', run, { note: 'ab' })).toMatchObject({ status: 200, data: { answer: 'alive' } })
})
