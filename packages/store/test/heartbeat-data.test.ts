import { beforeEach, expect, test } from 'vitest'
import { heartbeatData, heartbeatSample } from '@q/store'
import { fixture } from './fixture.ts'
import { fleetOf } from './fleet.ts'

const its = await fixture()
const { store, enqueue, claim } = its
const fleet = fleetOf(its)

beforeEach(() => fleet.disband())

const stats = { health: 'degraded', cpuPercent: 45.24, memoryMb: 2_048, activeRuns: 2, freeSlots: 3 } as const
const counts = { completed: 42, failed: 2, uptimeS: 7_200 }

test('a heartbeat has the members and units of the message that programs read', () => {
  const beat = {
    name: 'worker-local-1',
    atMs: 1_704_067_200_000,
    runIds: ['123', '456'],
    stats: { ...stats, ...counts },
  }
  const heartbeat = heartbeatData(beat)
  const metrics = { cpu_usage: 45.2, memory_usage: 2_048, tasks_completed: 42, tasks_failed: 2, uptime: 7_200 }
  expect(heartbeat).toEqual({
    worker_id: 'worker-local-1',
    timestamp: 1_704_067_200_000,
    health_status: 'degraded',
    current_tasks: ['123', '456'],
    capacity_available: 3,
    metrics,
  })
  expect(heartbeatSample(heartbeat)).toEqual({
    timestamp: 1_704_067_200_000,
    health_status: 'degraded',
    task_count: 2,
    capacity_available: 3,
    metrics,
  })
})

test('the last heartbeat of a node names it, its stats and the runs that it executes', async () => {
  await fleet.join('one')
  const answer = await store.upsertReplicaHeartbeat('one', { ...stats, ...counts })
  const ids = await enqueue('beaten', { count: 2 })
  await claim('beaten', 1, 'one')
  await store.claimAvailableTaskRuns({ replicaId: 'one', tasks: ['beaten'], queues: [], limit: 1, prefetch: true })
  const heartbeat = await store.nodeHeartbeat('one')
  expect(heartbeat).toMatchObject({
    worker_id: 'one',
    timestamp: Math.round(answer.clockMs),
    health_status: 'degraded',
    current_tasks: [ids[0]],
    capacity_available: 3,
    metrics: { cpu_usage: 45.2, memory_usage: 2_048, tasks_completed: 42, tasks_failed: 2, uptime: 7_200 },
  })
  expect(await store.nodeHeartbeats()).toEqual([{ replicaId: 'one', heartbeat }])
})

test('a node that stopped has no heartbeat, and a stale one is not among the live', async () => {
  for (const id of ['stopped', 'stale']) await fleet.join(id)
  await store.retireReplica('stopped')
  await fleet.silence('stale')
  expect(await store.nodeHeartbeat('stopped')).toBeUndefined()
  expect(await store.nodeHeartbeat('stale')).toMatchObject({ worker_id: 'stale' })
  expect(await store.nodeHeartbeats()).toEqual([])
})

test('a heartbeat with a CPU use that is too small for its column is accepted', async () => {
  await fleet.join('idle')
  await store.upsertReplicaHeartbeat('idle', { ...stats, ...counts, cpuPercent: 1e-50 })
  expect(await store.nodeHeartbeat('idle')).toMatchObject({ metrics: { cpu_usage: 0, uptime: 7_200 } })
})
