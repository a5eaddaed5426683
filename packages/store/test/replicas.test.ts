import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'
import { introduction } from './introduction.ts'

const { store, another, db } = await fixture()

const vitals = {
  health: 'healthy',
  cpuPercent: 12.5,
  memoryMb: 100,
  activeRuns: 1,
  freeSlots: 1,
  completed: 3,
  failed: 1,
  uptimeS: 9,
} as const

test('replicas that register at the same moment under one name get names of their own', async () => {
  const names = await Promise.all(
    Array.from({ length: 5 }, (_, index) => another().registerReplica(introduction(`twin-${index}`, 'twin'))),
  )
  expect(names.map(({ name }) => name).toSorted()).toEqual(['twin', 'twin-2', 'twin-3', 'twin-4', 'twin-5'])
})

test('a registered replica has beaten once, so its first heartbeat precedes its first claim', async () => {
  await store.registerReplica(introduction('early', 'early'))
  expect(
    await db.selectFrom('q.replica_heartbeat').select('replica_id').where('replica_id', '=', 'early').execute(),
  ).toHaveLength(1)
})

test('the name of a replica that left, or stopped beating, is free again', async () => {
  await store.registerReplica(introduction('left', 'reused'))
  await store.retireReplica('left')
  expect(await store.registerReplica(introduction('dead', 'reused'))).toMatchObject({ name: 'reused' })
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: new Date(0) })
    .where('replica_id', '=', 'dead')
    .execute()
  expect(await store.registerReplica(introduction('next', 'reused'))).toMatchObject({ name: 'reused' })
})

test('a heartbeat updates one row in place and its answer says whether to drain', async () => {
  await store.registerReplica(introduction('beating', 'beating'))
  expect(await store.upsertReplicaHeartbeat('beating', vitals)).toEqual({ draining: false })
  await db.updateTable('q.replica').set({ draining_at: new Date() }).where('id', '=', 'beating').execute()
  expect(await store.upsertReplicaHeartbeat('beating', { ...vitals, completed: 4 })).toEqual({ draining: true })
  const rows = await db.selectFrom('q.replica_heartbeat').selectAll().where('replica_id', '=', 'beating').execute()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({ completed: '4', cpu_percent: 12.5, health: 'healthy' })
})

test('nodes show who is alive, draining or stale by their own thresholds, and not who left', async () => {
  for (const id of ['n-alive', 'n-draining', 'n-stale', 'n-left']) await store.registerReplica(introduction(id, id))
  await db.updateTable('q.replica').set({ draining_at: new Date() }).where('id', '=', 'n-draining').execute()
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: new Date(0) })
    .where('replica_id', '=', 'n-stale')
    .execute()
  await store.retireReplica('n-left')
  const nodes = (await store.listNodes()).filter((node) => node.id.startsWith('n-'))
  expect(nodes.map(({ id, state }) => [id, state])).toEqual([
    ['n-alive', 'alive'],
    ['n-draining', 'draining'],
    ['n-stale', 'stale'],
  ])
})

test('the tasks a replica publishes replace what was known, and their lanes exist', async () => {
  const task = (queue: string) => ({
    name: 'published',
    queue,
    options: { queue, onCrash: 'retry' },
    payloadSchema: { type: 'object' },
  })
  await store.publishTasks('r1', [task('old')])
  await store.publishTasks('r2', [task('new')])
  expect(await store.publishedTasks()).toContainEqual({ name: 'published', queue: 'new', onCrash: 'retry' })
  const lanes = await db.selectFrom('q.lane').select('queue').where('task', '=', 'published').orderBy('queue').execute()
  expect(lanes.map((lane) => lane.queue)).toEqual(['new', 'old'])
})
