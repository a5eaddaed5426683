/** Heartbeats, samples and alerts of replicas as reports: the latest alone, at the destination's interval. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fixture } from '../fixture.ts'
import { introduction } from '../replica-registration.ts'

const { store, db, enqueue, claimOne } = await fixture()

const stats = {
  health: 'healthy',
  cpuPercent: 45.2,
  memoryMb: 2_048,
  activeRuns: 1,
  freeSlots: 3,
  completed: 42,
  failed: 1,
  uptimeS: 7_200,
} as const

beforeEach(async () => {
  await sql`TRUNCATE q.task_run, q.replica, q.replica_heartbeat, q.delivery CASCADE`.execute(db)
  await store.putDestination({
    name: 'hook',
    kind: 'log',
    reports: ['heartbeat', 'sample', 'alert'],
    settings: { issue: '/issue' },
  })
  await store.registerReplica(introduction('one', 'eu-1'))
  await store.upsertReplicaHeartbeat('one', stats)
})
afterEach(() => store.removeDestination('hook'))

const report = (kind: 'heartbeat' | 'sample' = 'heartbeat') =>
  store.reportHeartbeats({ destination: 'hook', kind, everyMs: 300_000, limit: 10 })

const lease = () => store.leaseDeliveries({ destination: 'hook', holder: 'h', limit: 10, forMs: 60_000 })

async function age(time: string): Promise<void> {
  await sql`UPDATE q.delivery SET created_at = created_at - ${time}::interval`.execute(db)
}

test('a heartbeat carries the message of the worker and the runs that it executes', async () => {
  const [id] = await enqueue('beating', { payload: { issue: 7 } })
  await claimOne('beating', 'one')
  expect(await report()).toBe(1)
  const [leased] = await lease()
  expect(leased).toMatchObject({
    kind: 'heartbeat',
    orderKey: 'replica/eu-1',
    payload: {
      heartbeat: {
        worker_id: 'eu-1',
        health_status: 'healthy',
        current_tasks: [id],
        capacity_available: 3,
        metrics: { cpu_usage: 45.2, memory_usage: 2_048, tasks_completed: 42, tasks_failed: 1, uptime: 7_200 },
      },
      runs: [{ runId: id, epoch: 1, task: 'beating', queue: 'default', issue: '7' }],
    },
  })
})

test('a sample is the message alone', async () => {
  expect(await report('sample')).toBe(1)
  expect((await lease())[0]).toMatchObject({ kind: 'sample', payload: { worker_id: 'eu-1', current_tasks: [] } })
})

test('a replica is reported once per interval, sooner if it is not healthy, and not after it has stopped', async () => {
  expect(await report()).toBe(1)
  expect(await report()).toBe(0)
  await age('1 minute 1 second')
  expect(await report()).toBe(0)
  await store.upsertReplicaHeartbeat('one', { ...stats, health: 'degraded' })
  expect(await report()).toBe(1)
  await age('6 minutes')
  await store.retireReplica('one')
  expect(await report()).toBe(0)
})

test('a newer heartbeat replaces the last one under a new revision, even while that one is sent', async () => {
  await report()
  const [first] = await lease()
  await age('6 minutes')
  await report()
  expect(await lease()).toEqual([])
  const outcome = { kind: 'delivered' } as const
  expect(await store.markDeliveries('h', [{ id: first!.id, revision: 1, outcome }])).toEqual([
    { id: first!.id, became: 'replaced' },
  ])
  const [second] = await lease()
  expect(second).toMatchObject({ id: first!.id, revision: 2 })
  expect(await store.markDeliveries('h', [{ id: first!.id, revision: 2, outcome }])).toMatchObject([
    { became: 'delivered' },
  ])
  expect(await db.selectFrom('q.delivery').select('id').execute()).toHaveLength(1)
})

test('the third failed heartbeat in a row is an alert', async () => {
  const failures = [1, 2, 3, 4].map((consecutive) => ({ agoMs: 1_000, consecutive, error: 'connection refused' }))
  await store.recordHeartbeatFailures('one', failures)
  expect(await lease()).toMatchObject([
    { kind: 'alert', payload: { worker_id: 'eu-1', error: 'connection refused', consecutive_failures: 3 } },
  ])
})

test('of two live replicas with one name, the one that sent the last heartbeat is reported', async () => {
  await store.registerReplica(introduction('two', 'eu-2'))
  // The first one was silent for so long that its name was free, and then continued.
  await sql`UPDATE q.replica SET name = 'eu-1' WHERE id = 'two'`.execute(db)
  await store.upsertReplicaHeartbeat('two', { ...stats, completed: 43 })
  expect(await report()).toBe(1)
  expect(await lease()).toMatchObject([{ payload: { heartbeat: { metrics: { tasks_completed: 43 } } } }])
})
