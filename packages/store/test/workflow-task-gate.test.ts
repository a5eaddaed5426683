/** Steps of tasks that no replica has published: they wait at the gate `task`, after their parents and their workflow. */
import { expect, test } from 'vitest'
import { noLane } from '@q/store'
import { introduction } from './replica-registration.ts'
import { plain, step, workflowFixture } from './workflow-fixture.ts'

const { store, db, start, end, row } = await workflowFixture()
const unpublished = { lane: noLane }

/** Publishes a task by a live replica that serves it. */
async function publish(name: string, options: Record<string, unknown> = {}): Promise<void> {
  await store.registerReplica({ ...introduction(`r-${name}`), tasks: [name] })
  await store.publishTasks('r', [{ name, queue: 'cpu', options, payloadSchema: null }])
}

test('a step waits for its parents, then for its task, and then gets the options of the task', async () => {
  const flow = await start(
    { steps: [step('first-a'), step('then-a', ['first-a'], { payload: plain({ k: 'x' }), options: { priority: 4 } })] },
    {},
    { 'then-a': unpublished },
  )
  expect(await row(flow.run('then-a'))).toMatchObject({ waiting_for: 'parents', asked: { priority: 4 } })
  await end('first-a')
  expect(await row(flow.run('then-a'))).toMatchObject({ status: 'PENDING', waiting_for: 'task' })
  await publish('then-a', {
    priority: 1,
    retry: { attempts: 3 },
    expiresMs: 1,
    unique: { key: '/k', forMs: null },
    concurrency: { key: '/k', shared: null, limit: 1 },
  })
  // Unique keys and deadlines of a task do not apply to steps.
  expect(await row(flow.run('then-a'))).toMatchObject({
    status: 'AVAILABLE',
    priority: 4,
    max_attempts: 3,
    concurrency_key: 'then-a\u001fx',
    concurrency_slot: 1,
    unique_key: null,
    expires_at: null,
  })
  await end('then-a')
  expect(await flow.status()).toBe('SUCCEEDED')
})

test('a step that still waits for its parents when its task is published does not wait for the task again', async () => {
  const flow = await start({ steps: [step('first-b'), step('then-b', ['first-b'])] }, {}, { 'then-b': unpublished })
  await publish('then-b')
  expect(await row(flow.run('then-b'))).toMatchObject({ waiting_for: 'parents', asked: null })
  await end('first-b')
  expect(await row(flow.run('then-b'))).toMatchObject({ status: 'AVAILABLE' })
})

test('a step of a paused workflow waits for the workflow, whether or not its task is published', async () => {
  const flow = await start({ steps: [step('paused-c')] }, {}, { 'paused-c': unpublished })
  await store.pauseWorkflow(flow.id, 'a test')
  expect(await row(flow.run('paused-c'))).toMatchObject({ waiting_for: 'workflow' })
  await store.resumeWorkflow(flow.id)
  expect(await row(flow.run('paused-c'))).toMatchObject({ waiting_for: 'task' })
  await store.pauseWorkflow(flow.id, 'a test')
  await publish('paused-c')
  expect(await row(flow.run('paused-c'))).toMatchObject({ waiting_for: 'workflow' })
  expect((await store.repairWorkflows({ limit: 100 })).repaired).toEqual([])
  await store.resumeWorkflow(flow.id)
  expect(await row(flow.run('paused-c'))).toMatchObject({ status: 'AVAILABLE' })
})

test('items of a map that are made after the publication pass the gate with the next sweep', async () => {
  const flow = await start(
    {
      steps: [
        { kind: 'map', name: 'all', task: 'item-d', over: { from: 'input', at: '/list' }, payload: plain(), after: [] },
      ],
    },
    { list: [1, 2] },
    { 'item-d': unpublished },
  )
  expect(await flow.states()).toEqual({ all: 'PENDING', 'all[0]': 'PENDING', 'all[1]': 'PENDING' })
  await publish('item-d')
  await end('item-d')
  await end('item-d')
  expect(await flow.states()).toEqual({ all: 'SUCCEEDED', 'all[0]': 'SUCCEEDED', 'all[1]': 'SUCCEEDED' })
})

test('a step whose concurrency key would be the result of another step fails, and does not run without its key', async () => {
  const payload = { value: { k: null }, holes: { '/k': { from: 'step', step: 'first-e', at: '' } as const } }
  const flow = await start(
    { steps: [step('first-e'), step('then-e', ['first-e'], { payload })] },
    {},
    { 'then-e': unpublished },
  )
  await end('first-e')
  await publish('then-e', { concurrency: { key: '/k', shared: null, limit: 1 } })
  expect(await flow.states()).toEqual({ 'first-e': 'SUCCEEDED', 'then-e': 'FAILED INVALID_PAYLOAD' })
  expect(await flow.status()).toBe('FAILED')
})

test('a step at the gate `task` ends with its workflow, and can be retried', async () => {
  const flow = await start({ steps: [step('stopped-f')] }, {}, { 'stopped-f': unpublished })
  await store.cancelWorkflow(flow.id)
  expect(await flow.states()).toEqual({ 'stopped-f': 'CANCELLED TASK_CANCELLED' })
  expect(await store.retryTaskRun(flow.run('stopped-f'))).toBe('retried')
  expect(await row(flow.run('stopped-f'))).toMatchObject({ waiting_for: 'task' })
  await publish('stopped-f')
  await end('stopped-f')
  expect(await flow.status()).toBe('SUCCEEDED')
})

test('a workflow that an open transaction has locked does not stop the sweep of the gate', async () => {
  const payload = { value: { k: null }, holes: { '/k': { from: 'step', step: 'first-g', at: '' } as const } }
  const flow = await start(
    { steps: [step('first-g'), step('then-g', ['first-g'], { payload })] },
    {},
    { 'then-g': unpublished },
  )
  await end('first-g')
  const options = JSON.stringify({ concurrency: { key: '/k', shared: null, limit: 1 } })
  await db.insertInto('q.task').values({ name: 'then-g', queue: 'cpu', options, published_by: 'r' }).execute()
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.workflow').select('id').where('id', '=', flow.id).forUpdate().execute()
    expect(await store.sweepTaskGate()).toEqual([])
  })
  await store.sweepTaskGate()
  expect(await flow.states()).toEqual({ 'first-g': 'SUCCEEDED', 'then-g': 'FAILED INVALID_PAYLOAD' })
})
