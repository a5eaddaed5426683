import { afterAll, expect, test } from 'vitest'
import { memoryDestination } from './memory-destination.ts'
import { alert, heartbeat, heartbeatData, recovery, sample, status } from './reports.ts'

const at = 1_704_067_200_000
// One test for each pattern of keys shares it: they do not meet.
const shared = await memoryDestination({}, { scope: afterAll })
const delivered = { kind: 'delivered' }

test('the latest heartbeat of a worker replaces the one before, and an older one never does', async () => {
  const { sender, content } = shared
  const key = 'task-sentinel/workers/worker-local-1/heartbeat'
  expect(await sender.send([heartbeat('worker-local-1', at)])).toEqual([delivered])
  expect(await content(key)).toEqual({ [key]: [JSON.stringify(heartbeatData('worker-local-1', at))] })
  await sender.send([heartbeat('worker-local-1', at + 2), heartbeat('worker-local-1', at + 1)])
  await sender.send([heartbeat('worker-local-1', at)])
  expect(await content(key)).toEqual({ [key]: [JSON.stringify(heartbeatData('worker-local-1', at + 2))] })
})

test('each sample is an entity of its own, named by worker and timestamp', async () => {
  const { sender, content } = shared
  await sender.send([sample('a', at), sample('b', at), sample('a', at + 1)])
  const found = await content('task-sentinel/metrics/heartbeats/')
  expect(Object.keys(found)).toEqual([
    `task-sentinel/metrics/heartbeats/a/${at}`,
    `task-sentinel/metrics/heartbeats/b/${at}`,
    `task-sentinel/metrics/heartbeats/a/${at + 1}`,
  ])
  const { metrics } = heartbeatData('a', at)
  expect(JSON.parse(found[`task-sentinel/metrics/heartbeats/a/${at}`]?.[0] ?? '')).toEqual({
    timestamp: at,
    health_status: 'healthy',
    task_count: 2,
    capacity_available: 3,
    metrics,
  })
})

test('runs that are recovered in the same millisecond are all on record', async () => {
  const { sender, content } = shared
  await sender.send([recovery('41', at)])
  const more = [recovery('42', at), recovery('43', at + 1, { became: 'FAILED', code: 'WORKER_CRASHED' })]
  expect(await sender.send(more)).toEqual([delivered, delivered])
  const found = await content('task-sentinel/metrics/lock-recoveries/')
  const values = Object.entries(found).map(([key, texts]) => [key, texts.map((text) => JSON.parse(text) as object)])
  const value = { timestamp: at, task: 'resize', worker_id: 'eu-1', stale_duration: 932_000, cause: 'presence' }
  const requeued = { ...value, became: 'AVAILABLE', code: null }
  expect(Object.fromEntries(values)).toEqual({
    [`task-sentinel/metrics/lock-recoveries/${at}`]: [
      { ...requeued, task_id: '41' },
      { ...requeued, task_id: '42' },
    ],
    [`task-sentinel/metrics/lock-recoveries/${at + 1}`]: [
      { ...value, timestamp: at + 1, task_id: '43', became: 'FAILED', code: 'WORKER_CRASHED' },
    ],
  })
})

test('failed heartbeats of a worker are values of one entity', async () => {
  const { sender, content } = shared
  await sender.send([alert('eu-1', at)])
  await sender.send([alert('eu-1', at + 1, 'x'.repeat(10_000))])
  const found = (await content())['task-sentinel/workers/eu-1/heartbeat-failures']?.map((text) => JSON.parse(text))
  expect(found).toEqual([
    { timestamp: at, error: 'connection refused', consecutive_failures: 3 },
    { timestamp: at + 1, error: 'x'.repeat(500), consecutive_failures: 3 },
  ])
})

test('a report that is sent again changes nothing', async () => {
  const { sender, content } = await memoryDestination({ locks: true })
  const reports = [heartbeat('a', at), sample('a', at), alert('a', at), recovery('41', at), status('42', 'CLAIMED', at)]
  await sender.send(reports)
  const once = await content()
  expect(Object.keys(once)).toHaveLength(5)
  expect(await sender.send(reports)).toEqual(reports.map(() => delivered))
  expect(await content()).toEqual(once)
})

test('ids of workers cannot leave their part of the key, and the prefix can be chosen', async () => {
  const { sender, content } = await memoryDestination({ prefix: 'team/q' })
  await sender.send([heartbeat(`../ü/${'x'.repeat(200)}`, at)])
  expect(Object.keys(await content())).toEqual([`team/q/workers/..___${'x'.repeat(95)}/heartbeat`])
})
