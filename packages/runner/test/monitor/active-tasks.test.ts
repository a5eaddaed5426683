/** Runs of a monitor whose worker claims them again while it still knows their old leases. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { HeartbeatMonitor, type HeartbeatConfig } from '@q/runner/monitor'
import { connect, createStore, leaseOf, type Lease, type Store } from '@q/store'
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

const often = { heartbeat_interval: 100, stale_threshold: 60_000, detection_interval: 100, retry_delay: 0 }
let workers = 0

async function scene(config: HeartbeatConfig = {}) {
  const monitor = new HeartbeatMonitor(`worker-${++workers}`, '', { store, ...often, ...config })
  onTestFinished(() => monitor.stop())
  const task = `task-${workers}`
  const lane = await store.internLane({ queue: 'default', task })
  await store.enqueueTaskRuns([{ task, lane, payload: {} }])
  const { replicaId } = monitor
  async function claim(): Promise<Lease> {
    const [run] = await store.claimAvailableTaskRuns({ replicaId, tasks: [task], queues: [], limit: 1 })
    return leaseOf(run!)
  }
  return { monitor, claim }
}

function heartbeatUnder({ runId, fence }: Lease) {
  const beats = db.selectFrom('q.task_heartbeat').select('role').where('run_id', '=', runId).where('fence', '=', fence)
  return eventually(() => beats.executeTakeFirst(), 'a heartbeat under the new lease')
}

test('the end of an execution under an old lease does not end the heartbeats of the new one', async () => {
  const { monitor, claim } = await scene()
  const old = await claim()
  monitor.addTask(old)
  await store.releaseTaskRuns([old])
  const current = await claim()
  monitor.addTask(current)
  monitor.removeTask(old)
  await monitor.start()
  expect(await heartbeatUnder(current)).toEqual({ role: 'runner' })
})

test('a run that the worker claims again while the database answers is not lost', async () => {
  const lost: string[] = []
  let reclaim: () => Promise<void> = async () => {}
  const beatTaskRuns: Store['beatTaskRuns'] = async (...beats) => {
    const answers = await store.beatTaskRuns(...beats)
    await reclaim()
    return answers
  }
  const { monitor, claim } = await scene({ store: { ...store, beatTaskRuns }, onLost: (task) => lost.push(task) })
  const old = await claim()
  await store.releaseTaskRuns([old])
  monitor.addTask(old)
  const claimed = Promise.withResolvers<Lease>()
  reclaim = async () => {
    reclaim = async () => {}
    const current = await claim()
    monitor.addTask(current)
    claimed.resolve(current)
  }
  await monitor.start()
  expect(await heartbeatUnder(await claimed.promise)).toEqual({ role: 'runner' })
  expect(lost).toEqual([])
})
