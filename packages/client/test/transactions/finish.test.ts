/** Runs that end themselves in users' own transactions, for each library. */
import { afterAll, describe, expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import { connect, createStore, finishTaskRun, type Lease, type StartedWorkflow } from '@q/store'
import { testDatabase } from '@q/testing'
import { storeIn } from '../../src/transaction.ts'
import { libraries } from './libraries.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
const lane = await store.internLane({ queue: 'default', task: 'ends' })
const followingLane = await store.internLane({ queue: 'default', task: 'follows' })
await connection.db.insertInto('q.idle').values({ replica_id: 'idle-replica' }).execute()
const opened = Object.entries(libraries).map(([name, open]) => ({ name, library: open(database.url) }))
afterAll(async () => {
  await Promise.all(opened.map(({ library }) => library.close()))
  await connection.close()
  await database.drop()
})

async function claimed(): Promise<Lease> {
  const [run] = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['ends'], queues: [], limit: 1 })
  return { runId: run!.runId, fence: run!.fence }
}

const result = { text: 'é"\\{}?', user_ids: [1, null] }
const none = { value: {}, holes: {} } as const
const first = { kind: 'task', name: 'first', task: 'ends', payload: none } as const

function start(steps: readonly StepPlan[]): Promise<StartedWorkflow> {
  const output = { value: null, holes: { '': { from: 'step', step: 'first', at: '/user_ids' } } } as const
  return store.startWorkflow({
    plan: { name: 'ends', steps: [first, ...steps], output },
    input: null,
    tasks: { ends: { lane }, follows: { lane: followingLane } },
  })
}

const enqueues = {
  'a plain run': () => store.enqueueTaskRuns([{ task: 'ends', lane, payload: {} }]),
  'a run with a concurrency key': () =>
    store.enqueueTaskRuns([{ task: 'ends', lane, payload: {}, concurrency: { scope: 'ends', key: 'k' } }]),
  'the last step of a workflow': () => start([]),
}

describe.each(opened)('in a transaction of $name', ({ library }) => {
  test.each(Object.entries(enqueues))('%s ends, unless its lease is lost', async (_, enqueue) => {
    await enqueue()
    const lease = await claimed()
    const lost = await library.inTransaction((tx) => finishTaskRun(storeIn(tx), { ...lease, fence: 9 }, 'late'))
    expect(lost).toBe('lease-lost')
    const answer = await library.inTransaction((tx) => finishTaskRun(storeIn(tx), lease, result))
    expect(answer).toBe('settled')
    expect(await store.getTaskRuns([lease.runId])).toMatchObject([{ status: 'SUCCEEDED', result }])
  })

  test('the end of the last step ends its workflow, which wakes callers', async () => {
    const { id } = await start([])
    await store.awaitWorkflows([id])
    const lease = await claimed()
    await library.inTransaction((tx) => finishTaskRun(storeIn(tx), lease, result))
    expect(await store.getWorkflows([id])).toMatchObject([{ status: 'SUCCEEDED', result: [1, null] }])
  })

  test('the end of a step begins the steps that follow, a conditional one, a map and a sub-workflow; their ends end the workflow', async () => {
    const of = { from: 'step', step: 'first', at: '/user_ids' } as const
    const { id } = await start([
      {
        kind: 'task',
        name: 'conditional',
        task: 'follows',
        payload: none,
        when: { value: { ...of, at: '/text' }, is: { equals: result.text } },
      },
      {
        kind: 'map',
        name: 'map',
        task: 'follows',
        over: of,
        payload: { value: { user_id: null }, holes: { '/user_id': { from: 'item', at: '' } } },
      },
      {
        kind: 'workflow',
        name: 'sub',
        input: { value: { user_ids: null }, holes: { '/user_ids': of } },
        workflow: {
          name: 'inner',
          steps: [
            {
              kind: 'task',
              name: 'inside',
              task: 'follows',
              payload: { value: { user_ids: null }, holes: { '/user_ids': { from: 'input', at: '/user_ids' } } },
            },
          ],
        },
      },
    ])
    const lease = await claimed()
    await library.inTransaction((tx) => finishTaskRun(storeIn(tx), lease, result))
    const steps = await store.listSteps(id)
    expect(steps.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
      'conditional AVAILABLE',
      'first SUCCEEDED',
      'map PENDING',
      'map[0] AVAILABLE',
      'map[1] AVAILABLE',
      'sub PENDING',
    ])
    const following = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['follows'], queues: [], limit: 9 })
    expect(following.map(({ payload }) => payload.replaceAll(' ', '')).toSorted()).toEqual([
      '{"user_id":1}',
      '{"user_id":null}',
      '{"user_ids":[1,null]}',
      '{}',
    ])
    for (const { runId, fence } of following)
      await library.inTransaction((tx) => finishTaskRun(storeIn(tx), { runId, fence }, result))
    expect(await store.getWorkflows([id])).toMatchObject([{ status: 'SUCCEEDED', result: [1, null] }])
  })
})
