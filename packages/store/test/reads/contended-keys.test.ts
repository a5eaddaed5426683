import { expect, test } from 'vitest'
import { fixture } from '../fixture.ts'
import { introduction } from '../replica-registration.ts'

const { store } = await fixture()

test('the key that most runs wait for comes first, with its limit and the runs that hold it', async () => {
  await store.registerReplica(introduction('holder', 'eu-1'))
  await store.setConcurrencyLimit('render', 2)
  const lane = await store.internLane({ queue: 'cpu', task: 'render' })
  const other = await store.internLane({ queue: 'io', task: 'other' })
  const runs = (key: string, count: number, task = 'render', at = lane) =>
    Array.from({ length: count }, () => ({ task, lane: at, payload: {}, concurrency: { scope: task, key } }))
  await store.enqueueTaskRuns([...runs('a', 4), ...runs('b', 6), ...runs('c', 2, 'other', other)])
  await store.claimAvailableTaskRuns({ replicaId: 'holder', tasks: ['render'], queues: [], limit: 9 })
  const keys = await store.contendedKeys()
  expect(keys.map(({ key, limit, waiting }) => [key, limit, waiting])).toEqual([
    ['b', 2, { count: 4, atLeast: false }],
    ['a', 2, { count: 2, atLeast: false }],
    ['c', 1, { count: 1, atLeast: false }],
  ])
  expect(keys[0]!.holders).toMatchObject([
    { status: 'RUNNING', replicaId: 'holder', name: 'eu-1' },
    { status: 'RUNNING', replicaId: 'holder' },
  ])
  expect(keys[2]!.holders).toMatchObject([{ status: 'AVAILABLE', replicaId: null, name: null }])
  expect((await store.contendedKeys({ queue: 'io' })).map(({ key }) => key)).toEqual(['c'])
  expect((await store.contendedKeys({ limit: 1 })).map(({ key }) => key)).toEqual(['b'])
})
