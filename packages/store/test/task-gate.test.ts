/** The gate `task`: a run of a task that no replica has published waits there, and loses no option of the task. */
import { sql } from 'kysely'
import type { Notification } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { enqueueTaskRuns, noLane, usingPg } from '@q/store'
import { hour, taskGateFixture } from './task-gate-fixture.ts'

const { store, db, row, claim, publish, enqueueOne, age, session } = await taskGateFixture()

test('a run of a task that no replica has published is accepted and waits at the gate `task`', async () => {
  const run = await enqueueOne('unknown')
  expect(run).toMatchObject({ status: 'PENDING', duplicate: false })
  expect(await row(run.id)).toMatchObject({ waiting_for: 'task', lane: noLane, asked: {} })
  expect(await claim('unknown')).toEqual([])
})

test('publication gives a run the queue, requirements, keys and limits of its task and opens the gate', async () => {
  const { id } = await enqueueOne('full', { user: 'Ada' })
  const options = {
    priority: 7,
    requires: ['gpu'],
    onCrash: 'retry',
    retry: { attempts: 4 },
    expiresMs: hour,
    concurrency: { key: '/user', limit: 1, shared: 'api' },
    unique: { key: '/user', forMs: null },
  }
  await publish('full', options, 'cpu')
  const run = await row(id)
  expect(run).toMatchObject({
    status: 'AVAILABLE',
    waiting_for: null,
    asked: null,
    priority: 7,
    on_crash: 'retry',
    max_attempts: 4,
    concurrency_key: 'api\u001fAda',
    concurrency_slot: 1,
    unique_key: 'Ada',
  })
  expect(run.lane).toBe(await store.internLane({ queue: 'cpu', task: 'full', requires: ['gpu'] }))
  expect(run.expires_at!.getTime() - run.created_at.getTime()).toBe(hour)
})

test('options of the enqueue take precedence over options of the task', async () => {
  const { id } = await enqueueOne(
    'asked',
    { id: 1 },
    { priority: -3, maxAttempts: 2, group: 'g', uniqueKey: 'mine', expiresInMs: 2 * hour },
  )
  await publish('asked', { priority: 7, retry: { attempts: 4 }, expiresMs: hour, unique: { key: '/id', forMs: null } })
  const run = await row(id)
  expect(run).toMatchObject({ status: 'AVAILABLE', priority: -3, max_attempts: 2, grp: 'g', unique_key: 'mine' })
  expect(run.expires_at!.getTime() - run.created_at.getTime()).toBeCloseTo(2 * hour, -3)
})

test('a delayed run goes from the gate `task` to the gate `time`, or past it when its time has come', async () => {
  const later = await enqueueOne('delayed', {}, { delayMs: hour })
  const due = await enqueueOne('delayed', {}, { delayMs: hour })
  await age(due.id, 2 * hour)
  await publish('delayed')
  expect(await row(later.id)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
  expect(await row(due.id)).toMatchObject({ status: 'AVAILABLE' })
})

test('an enqueue that did not see the publication and commits after it does not wait forever', async () => {
  await store.sweepTaskGate() // runs that other tests left at the gate
  const client = await session()
  await client.query('BEGIN')
  const [run] = await enqueueTaskRuns(usingPg(client), [{ task: 'racing', payload: {} }])
  await publish('racing', {}, 'late')
  await client.query('COMMIT')
  expect(await row(run!.id)).toMatchObject({ waiting_for: 'task' })
  expect(await store.sweepTaskGate()).toEqual([run!.id])
  expect(await row(run!.id)).toMatchObject({ status: 'AVAILABLE' })
  expect(await store.sweepTaskGate()).toEqual([])
})

test('a run that manual SQL has set to RUNNING is not touched by the publication of its task', async () => {
  const { id } = await enqueueOne('taken')
  await sql`UPDATE q.task_run SET status = 'AVAILABLE', waiting_for = NULL WHERE id = ${id}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'r-taken' WHERE id = ${id}`.execute(db)
  await publish('taken')
  await store.sweepTaskGate()
  expect(await row(id)).toMatchObject({ status: 'RUNNING', replica_id: 'r-taken' })
})

test('the opened gate wakes an idle replica', async () => {
  const listener = await session()
  await listener.query('LISTEN q_ready')
  const woken = new Promise<string | undefined>((resolve) =>
    listener.on('notification', ({ payload }: Notification) => resolve(payload)),
  )
  await db.insertInto('q.idle').values({ replica_id: 'idle' }).execute()
  onTestFinished(async () => void (await db.deleteFrom('q.idle').execute()))
  await enqueueOne('woken')
  await publish('woken', {}, 'waking')
  expect(await woken).toBe('waking')
})

test('a run at the gate `task` can be cancelled, expires, and waits there again after a retry', async () => {
  const { id } = await enqueueOne('left', {}, { priority: 3 })
  expect(await store.cancelTaskRuns([id])).toEqual(['cancelled'])
  expect(await store.retryTaskRun(id)).toBe('retried')
  expect(await row(id)).toMatchObject({ status: 'PENDING', waiting_for: 'task' })
  const late = await enqueueOne('left', {}, { expiresInMs: 0 })
  expect(await store.expireTaskRuns(10)).toContain(late.id)
  await publish('left')
  expect(await row(id)).toMatchObject({ status: 'AVAILABLE', priority: 3, epoch: 2 })
  expect(await row(late.id)).toMatchObject({ status: 'EXPIRED' })
})

test('`why`, the list and the backlog show that a run waits for its task', async () => {
  const { id } = await enqueueOne('asked-about')
  expect(await store.whyNotRunning(id)).toMatchObject({
    reasons: [{ reason: 'task-unpublished', task: 'asked-about' }],
    sentence: 'No node has published this task: asked-about.',
  })
  expect((await store.listTaskRuns({ task: 'asked-about' })).runs).toMatchObject([{ id, waitingFor: 'task' }])
  const waiting = async () => (await store.listQueues()).find(({ queue }) => queue === 'default')!.waiting.task.count
  const before = await waiting()
  await enqueueOne('asked-about')
  expect(await waiting()).toBe(before + 1)
  await db.insertInto('q.task').values({ name: 'asked-about', queue: 'default', published_by: 'r9' }).execute()
  expect((await store.whyNotRunning(id))!.reasons).toEqual([
    { reason: 'task-gate', task: 'asked-about', publishedBy: 'r9' },
  ])
})

test('options that only a task can set are refused for a run without a lane', async () => {
  await expect(enqueueOne('refused', {}, { onCrash: 'retry', timeoutMs: 1 })).rejects.toMatchObject({
    code: 'RUN_OPTION_INVALID',
    why: 'onCrash has no lane; timeoutMs has no lane.',
  })
})

test('a payload that does not fit a task published a moment ago is refused with the reason', async () => {
  await store.publishTasks('r', [{ name: 'strict', queue: 'default', options: {}, payloadSchema: { type: 'object' } }])
  await expect(enqueueOne('strict', [1])).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
})

test('a batch of runs of published and unpublished tasks is enqueued as a whole, in the order asked', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'mixed' })
  const answers = await store.enqueueTaskRuns([
    { task: 'mixed-unknown', payload: 1 },
    { task: 'mixed', lane, payload: 2 },
    { task: 'mixed-unknown', payload: null, uniqueKey: 'z' },
  ])
  expect(answers.map(({ status }) => status)).toEqual(['PENDING', 'AVAILABLE', 'PENDING'])
  expect(await Promise.all(answers.map(async ({ id }) => (await row(id)).payload))).toEqual([1, 2, null])
})

test('a run that was retried at the gate has no deadline from its first enqueue', async () => {
  const { id } = await enqueueOne('retried-late')
  await store.cancelTaskRuns([id])
  await age(id, 2 * hour)
  await store.retryTaskRun(id)
  await publish('retried-late', { expiresMs: hour })
  expect(await row(id)).toMatchObject({ status: 'AVAILABLE', expires_at: null })
})
