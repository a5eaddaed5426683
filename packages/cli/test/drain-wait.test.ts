/** What `q drain --wait` answers for everything that can happen to the node and its runs while it drains. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import type { Lease } from '@q/store'
import { exampleCluster } from './example-cluster.ts'
import { q, type Answered } from './terminal.ts'

const cluster = await exampleCluster()
const { env, store } = cluster
afterAll(() => cluster.close())

const by = { hostname: 'host-1', pid: 4711, thread: 1 }
let nodes = 0

interface Scene {
  readonly name: string
  readonly id: string
  readonly leases: readonly Lease[]
}

/** A live node that holds as many runs. */
async function nodeWith(runs: number): Promise<Scene> {
  const name = `us-${++nodes}`
  const id = `bbbbbbbbbb${String(nodes).padStart(2, '0')}`
  await cluster.execute(sql`INSERT INTO q.replica (id, name, hostname, pid, version, slots, preset, level, tasks, replica_beat_ms, replica_stale_ms,
      check_every_ms, claimer_beat_ms, claimer_stale_ms, runner_beat_ms, runner_stale_ms)
    VALUES (${id}, ${name}, 'host-1', 1, '0.1.0', 4, 'default', 99, '{work}', 10000, 600000, 30000, 30000, 600000, 30000, 600000)`)
  await cluster.execute(
    sql`INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat) VALUES (${id}, clock_timestamp())`,
  )
  return { name, id, leases: await claimed(id, runs) }
}

async function claimed(replicaId: string, runs: number): Promise<readonly Lease[]> {
  const lane = await store.internLane({ queue: 'default', task: 'work' })
  if (runs > 0) await store.enqueueTaskRuns(Array.from({ length: runs }, () => ({ task: 'work', lane, payload: {} })))
  const taken = await store.claimAvailableTaskRuns({ replicaId, tasks: ['work'], queues: [], limit: 10 })
  return taken.map(({ runId, fence }) => ({ runId, fence }))
}

const finish = (leases: readonly Lease[]) =>
  store.settleTaskRuns(leases.map((lease) => ({ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by })))
const release = (leases: readonly Lease[]) => store.releaseTaskRuns(leases)

/** Drains the node, and lets something happen once it is known to drain. */
async function drained({ name }: Scene, happening: () => Promise<unknown>, ...options: string[]): Promise<Answered> {
  let happened: Promise<unknown> | undefined
  const answered = await q(['drain', name, '--wait', ...options], env, {
    onProgress: () => void (happened ??= happening()),
  })
  await happened
  return answered
}

test('a node that finishes its runs and leaves stopped cleanly: exit 0', async () => {
  const scene = await nodeWith(2)
  const answered = await drained(scene, async () => {
    await finish(scene.leases)
    await store.retireReplica(scene.id)
  })
  expect(answered).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/stopped cleanly after .*: 2 finished, 0 released, 0 lost\.\n$/) as string,
  })
})

test('a run that the node released counts as released even if another node has already finished it', async () => {
  const scene = await nodeWith(1)
  const answered = await drained(scene, async () => {
    await release(scene.leases)
    await finish(await claimed('aaaaaaaaaaa1', 0))
    await store.retireReplica(scene.id)
  })
  expect(answered).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(': 0 finished, 1 released, 0 lost.') as string,
  })
})

test('a drain that is undone ends the wait: exit 1, and the answer says so', async () => {
  const scene = await nodeWith(1)
  const answered = await drained(scene, () => store.undrainReplica(scene.id))
  expect(answered).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/is no longer draining: the drain was undone after /) as string,
  })
})

test('a node that is lost while it drains leaves its runs behind: exit 7', async () => {
  const scene = await nodeWith(1)
  const answered = await drained(scene, () =>
    cluster.execute(
      sql`UPDATE q.replica_heartbeat SET last_heartbeat = now() - interval '1 hour' WHERE replica_id = ${scene.id}`,
    ),
  )
  expect(answered).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(
      /was lost while it drained, after .*: 0 finished, 0 released, 0 lost, 1 still held\.\n$/,
    ) as string,
  })
})

test('a node that stops while it holds a run has not stopped cleanly: exit 7', async () => {
  const scene = await nodeWith(2)
  const answered = await drained(scene, async () => {
    await finish(scene.leases.slice(1))
    await store.retireReplica(scene.id)
  })
  expect(answered).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/ stopped after .*: 1 finished, 0 released, 0 lost, 1 still held\.\n$/) as string,
  })
})

test('a run that was recovered from the node is lost: exit 7; one that was recovered from it before the drain is not', async () => {
  const scene = await nodeWith(2)
  const [lost, earlier] = scene.leases
  const recovery = (
    runId: string,
  ) => sql`INSERT INTO q.recovery (run_id, fence, cause, was, became, replica_id, recovered_by)
    VALUES (${runId}, 1, 'presence', 'RUNNING', 'AVAILABLE', ${scene.id}, 'aaaaaaaaaaa1')`
  await cluster.execute(recovery(earlier!.runId))
  const answered = await drained(scene, async () => {
    await finish(scene.leases)
    await cluster.execute(recovery(lost!.runId))
    await store.retireReplica(scene.id)
  })
  expect(answered).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/ stopped after .*: 1 finished, 0 released, 1 lost\.\n$/) as string,
  })
})

test('a wait that takes too long ends with 5, and the node keeps draining', async () => {
  const scene = await nodeWith(1)
  const answered = await drained(scene, () => Promise.resolve(), '--timeout', '100ms')
  expect(answered).toMatchObject({
    code: 5,
    stdout: expect.stringContaining('is still draining after') as string,
    stderr: `${scene.name} keeps draining. Undo: q undrain ${scene.name}\n`,
  })
})

test('a node that was lost before cannot drain: exit 7', async () => {
  expect(await q(['drain', 'eu-3', '--wait'], env)).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/^eu-3 is lost, and cannot drain: /) as string,
  })
})
