/** Reasons of `why` that concern replicas; once the cause is gone, the real claim takes the run. */
import { expect, test } from 'vitest'
import { whyFixture } from './why-fixture.ts'

const { store, enqueue, fleet, reasons, expectTaken, known } = await whyFixture()

test('no-replica: there is no replica, or only silent and stopped ones', async () => {
  const [id] = await enqueue(await known('alone'))
  await fleet.silence('worker')
  await fleet.join('gone')
  await store.retireReplica('gone')
  expect(await reasons(id!)).toMatchObject([{ reason: 'no-replica' }])
  await fleet.join('fresh')
  await expectTaken(id!, 'fresh')
})

test('task-unpublished: no replica has published the task', async () => {
  const [id] = await enqueue('unpublished')
  expect(await reasons(id!)).toMatchObject([{ reason: 'task-unpublished', task: 'unpublished' }])
  await fleet.publish('worker', 'unpublished')
  await expectTaken(id!)
})

test('task-unknown: the live replicas have other tasks', async () => {
  await fleet.publish('worker', 'elsewhere-known')
  const [id] = await enqueue('elsewhere-known')
  await fleet.disband()
  await fleet.join('ignorant', { tasks: [] })
  expect(await reasons(id!)).toMatchObject([{ reason: 'task-unknown', task: 'elsewhere-known', alive: 1 }])
  expect(await fleet.claimAs('ignorant')).toEqual([])
  await fleet.join('knowing')
  await expectTaken(id!, 'knowing')
})

test('queue-unserved: the live replicas serve other queues', async () => {
  await fleet.disband()
  await fleet.join('elsewhere', { queues: ['other'] })
  await fleet.publish('elsewhere', 'unserved')
  const id = await fleet.enqueueIn({ queue: 'lonely', task: 'unserved' })
  expect(await reasons(id)).toMatchObject([{ reason: 'queue-unserved', queue: 'lonely', alive: 1 }])
  expect(await fleet.claimAs('elsewhere')).toEqual([])
  await fleet.join('lonely-worker', { queues: ['lonely'] })
  await expectTaken(id, 'lonely-worker')
})

test('capabilities-missing: the capabilities that the closest replica lacks', async () => {
  await fleet.publish('worker', 'capable')
  await fleet.join('half', { capabilities: ['avx'] })
  const id = await fleet.enqueueIn({ queue: 'default', task: 'capable', requires: ['avx', 'gpu'] })
  const missing = { reason: 'capabilities-missing', requires: ['avx', 'gpu'], missing: ['gpu'], closest: 'half' }
  expect(await reasons(id)).toMatchObject([missing])
  for (const replica of ['worker', 'half']) expect(await fleet.claimAs(replica)).toEqual([])
  await fleet.join('whole', { capabilities: ['gpu', 'ssd', 'avx'] })
  await expectTaken(id, 'whole')
})

test('all-draining: the replicas that could take it are draining', async () => {
  const [id] = await enqueue(await known('drained'))
  await store.drainReplica('worker', { by: 'ada' })
  expect(await reasons(id!)).toMatchObject([{ reason: 'all-draining', nodes: ['worker'] }])
  await store.undrainReplica('worker')
  await expectTaken(id!)
})
