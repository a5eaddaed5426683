/** A monitor with a database: the worker is a replica, and its runs are fenced and recovered like those of a runner. */
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { HeartbeatMonitor, type MonitorAlert, type HeartbeatConfig } from '@q/runner/monitor'
import { connect, createStore, leaseOf, type RunId, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { eventually } from '../fixture.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const { db } = connection
const store = createStore(db)
afterAll(async () => {
  await connection.close()
  await database.drop()
})

const slow = { heartbeat_interval: 60_000, stale_threshold: 120_000, detection_interval: 60_000 }
const often = { heartbeat_interval: 100, stale_threshold: 60_000, detection_interval: 100, retry_delay: 0 }
let workers = 0

async function started(config: HeartbeatConfig = {}) {
  const monitor = new HeartbeatMonitor(`worker-${++workers}`, '', { store, ...slow, ...config })
  onTestFinished(() => monitor.stop())
  await monitor.start()
  return monitor
}

/** A run of a task of its own, claimed for the monitor. */
async function claimedBy({ replicaId }: HeartbeatMonitor) {
  const task = `task-${replicaId}`
  const lane = await store.internLane({ queue: 'default', task })
  await store.enqueueTaskRuns([{ task, lane, payload: {} }])
  const [run] = await store.claimAvailableTaskRuns({ replicaId, tasks: [task], queues: [], limit: 1 })
  return leaseOf(run!)
}

async function rowOf(runId: RunId) {
  return db.selectFrom('q.task_run').selectAll().where('id', '=', runId).executeTakeFirstOrThrow()
}

async function age(replicaId: string): Promise<void> {
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour' WHERE replica_id = ${replicaId}`.execute(
    db,
  )
  await sql`UPDATE q.task_run SET claimed_at = claimed_at - interval '1 hour', started_at = started_at - interval '1 hour'
    WHERE replica_id = ${replicaId} AND held`.execute(db)
}

test('a started monitor is a node with its own thresholds and metrics', async () => {
  const monitor = await started({ capacity: 3, tasks: ['encode'] })
  monitor.addTask('task-123')
  const [node] = await store.findNode(monitor.replicaId)
  expect(node).toMatchObject({
    name: monitor.workerId,
    state: 'alive',
    preset: 'external',
    presence: 'none',
    tasks: ['encode'],
    slots: 3,
    thresholds: { replicaBeatMs: 60_000, replicaStaleMs: 120_000, runnerStaleMs: 120_000, checkEveryMs: 60_000 },
  })
  expect(node!.memoryMb).toBeGreaterThan(10)
})

test('the database is found by its URL', async () => {
  const monitor = new HeartbeatMonitor('by-url', '', { databaseUrl: database.url, ...slow })
  await monitor.start()
  expect(await store.findNode('by-url')).toMatchObject([{ state: 'alive' }])
  await monitor.stop()
  expect(await store.findNode('by-url')).toMatchObject([{ state: 'stopped' }])
})

test.each(['lease', 'id'])('the heartbeats of a monitor cover a run that was added by its %s', async (kind) => {
  const monitor = await started(often)
  const lease = await claimedBy(monitor)
  monitor.addTask(kind === 'lease' ? lease : lease.runId)
  const beat = await eventually(
    () => db.selectFrom('q.task_heartbeat').selectAll().where('run_id', '=', lease.runId).executeTakeFirst(),
    'a heartbeat of the run',
  )
  expect(beat).toMatchObject({ role: 'runner', fence: lease.fence, sender_id: monitor.replicaId })
})

test('a run that the worker has lost is reported once, and no longer among its tasks', async () => {
  const lost: string[] = []
  const monitor = await started({ ...often, onLost: (task) => lost.push(task) })
  const lease = await claimedBy(monitor)
  monitor.addTask(lease)
  await store.releaseTaskRuns([lease])
  await eventually(() => (lost.length > 0 ? true : undefined), 'reported')
  expect(lost).toEqual([lease.runId])
  expect(await store.finishTaskRun(lease, 'late')).toBe('lease-lost')
})

test('a run that the worker claims again and adds by its id has heartbeats under its new lease, and is not reported as lost', async () => {
  const lost: string[] = []
  const onLost = (task: string) => void lost.push(task)
  const monitor = new HeartbeatMonitor(`worker-${++workers}`, '', { store, ...often, onLost })
  onTestFinished(() => monitor.stop())
  const first = await claimedBy(monitor)
  monitor.addTask(first)
  await store.releaseTaskRuns([first])
  const tasks = [`task-${monitor.replicaId}`]
  const [again] = await store.claimAvailableTaskRuns({ replicaId: monitor.replicaId, tasks, queues: [], limit: 1 })
  monitor.addTask(first.runId)
  await monitor.start()
  const beats = db.selectFrom('q.task_heartbeat').select('fence').where('run_id', '=', first.runId)
  await eventually(
    async () => ((await beats.executeTakeFirst())?.fence === again!.fence ? true : undefined),
    'a heartbeat',
  )
  expect(lost).toEqual([])
})

test('a callback that throws stops no heartbeat', async () => {
  const called = Promise.withResolvers<string>()
  const monitor = await started({
    ...often,
    onLost(task) {
      called.resolve(task)
      throw new Error('a mistake of the worker')
    },
  })
  const lease = await claimedBy(monitor)
  monitor.addTask(lease)
  await store.releaseTaskRuns([lease])
  await called.promise
  const beaten = (await store.nodeHeartbeat(monitor.replicaId))?.timestamp ?? 0
  await eventually(async () => {
    const heartbeat = await store.nodeHeartbeat(monitor.replicaId)
    return heartbeat !== undefined && heartbeat.timestamp > beaten ? true : undefined
  }, 'the next heartbeat')
  expect((await store.nodeDetail(monitor.replicaId))?.failures).toEqual([])
})

test('a run that was finished is not reported as lost', async () => {
  const lost: string[] = []
  const monitor = await started({ ...often, onLost: (task) => lost.push(task) })
  const [first, second] = [await claimedBy(monitor), await claimedBy(monitor)]
  monitor.addTask(first)
  monitor.addTask(second)
  expect(await store.finishTaskRun(first, 1)).toBe('settled')
  await store.releaseTaskRuns([second])
  await eventually(() => (lost.length > 0 ? true : undefined), 'reported')
  expect(lost).toEqual([second.runId])
})

test('a worker learns that a run is to be cancelled', async () => {
  const cancelled = Promise.withResolvers<string>()
  const monitor = await started({ ...often, onCancelled: cancelled.resolve })
  const lease = await claimedBy(monitor)
  monitor.addTask(lease)
  await store.cancelTaskRuns([lease.runId])
  expect(await cancelled.promise).toBe(lease.runId)
})

test('the stop releases the runs that the worker holds, added or not, before it ends the replica', async () => {
  const steps: string[] = []
  const watched: Store = {
    ...store,
    releaseTaskRuns(leases) {
      steps.push('release')
      return store.releaseTaskRuns(leases)
    },
    retireReplica(replicaId) {
      steps.push('end')
      return store.retireReplica(replicaId)
    },
  }
  const monitor = await started({ store: watched })
  const [added, other] = [await claimedBy(monitor), await claimedBy(monitor)]
  monitor.addTask(added)
  await monitor.stop()
  expect(steps).toEqual(['release', 'end'])
  for (const { runId } of [added, other]) expect(await rowOf(runId)).toMatchObject({ status: 'AVAILABLE', attempt: 0 })
  expect(await store.findNode(monitor.replicaId)).toMatchObject([{ state: 'stopped' }])
})

test('runs of a worker whose heartbeats stopped are recovered by another reaper, and its late write is refused', async () => {
  const monitor = await started()
  const lease = await claimedBy(monitor)
  await age(monitor.replicaId)
  expect((await store.reap({ by: 'test' })).ids).toEqual([lease.runId])
  expect(await rowOf(lease.runId)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  expect(await store.finishTaskRun(lease, 'late')).toBe('lease-lost')
})

test('a monitor recovers runs of workers that were never alive at its first look', async () => {
  const task = 'without-a-holder'
  const lane = await store.internLane({ queue: 'default', task })
  await store.enqueueTaskRuns([{ task, lane, payload: {} }])
  const [run] = await store.claimAvailableTaskRuns({ replicaId: 'never-alive', tasks: [task], queues: [], limit: 1 })
  const recovered = Promise.withResolvers<readonly string[]>()
  await started({ ...often, onRecovered: recovered.resolve })
  expect(await recovered.promise).toContain(run!.runId)
})

test('a monitor whose database is away keeps going, alerts once, and records the failures when it is back', async () => {
  let isAway = true
  let alerts: MonitorAlert[] = []
  const raised = Promise.withResolvers<void>()
  const flaky: Store = {
    ...store,
    upsertReplicaHeartbeat: (...given) =>
      isAway ? Promise.reject(new Error('connection refused')) : store.upsertReplicaHeartbeat(...given),
  }
  const monitor = await started({
    ...often,
    store: flaky,
    retry_attempts: 1,
    warn: () => {},
    onAlert(alert) {
      alerts = [...alerts, alert]
      raised.resolve()
    },
  })
  await raised.promise
  isAway = false
  const failures = await eventually(async () => {
    const found = (await store.nodeDetail(monitor.replicaId))?.failures ?? []
    return found.length >= 3 ? found : undefined
  }, 'recorded')
  expect(failures.at(-1)).toMatchObject({ inARow: 1, error: 'database: connection refused' })
  expect(alerts).toMatchObject([{ destination: 'database', consecutive_failures: 3 }])
})

test('a worker whose row was removed registers again', async () => {
  const monitor = await started(often)
  await db.deleteFrom('q.replica').where('id', '=', monitor.replicaId).execute()
  const [node] = await eventually(async () => {
    const found = await store.findNode(monitor.replicaId)
    return found.length > 0 ? found : undefined
  }, 'registered')
  expect(node).toMatchObject({ name: monitor.workerId })
})

test('a drain order reaches the worker with its next heartbeat', async () => {
  const monitor = await started(often)
  expect(monitor.isDraining()).toBe(false)
  await store.drainReplica(monitor.replicaId, { by: 'ada' })
  await eventually(() => (monitor.isDraining() ? true : undefined), 'draining')
})
