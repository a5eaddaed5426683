import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { by, fixture, leaseOf } from './fixture.ts'
import { fleetOf } from './fleet.ts'
import { introduction } from './replica-registration.ts'

const its = await fixture()
const { store, db } = its
const fleet = fleetOf(its)

beforeEach(() => fleet.disband())

async function found(text: string): Promise<string[]> {
  return (await store.findNode(text)).map((node) => node.id)
}

test('a node is shown with its capabilities, tasks and health', async () => {
  await fleet.join('aaa', { queues: ['cpu'], capabilities: ['gpu'], endpoint: 'http://a:1' })
  const stats = { health: 'degraded', cpuPercent: 71.5, memoryMb: 5_000, activeRuns: 1, freeSlots: 1 } as const
  await store.upsertReplicaHeartbeat('aaa', { ...stats, completed: 3, failed: 1, uptimeS: 9 })
  await store.drainReplica('aaa', { by: 'ada', deadlineMs: 60_000 })
  const [node] = await store.listNodes()
  expect(node).toMatchObject({
    id: 'aaa',
    name: 'aaa',
    queues: ['cpu'],
    capabilities: ['gpu'],
    endpoint: 'http://a:1',
    state: 'draining',
    drainingBy: 'ada',
    slots: 2,
    ...stats,
    activeRuns: 0,
    freeSlots: 2,
    completed: 3,
    failed: 1,
    uptimeS: 9,
    stoppedAt: null,
  })
  expect(node!.beatAgeMs).toBeLessThan(30_000)
  expect(node!.drainDeadline).toBeInstanceOf(Date)
})

test('a slot is busy while the node holds a run that executes, whatever its last heartbeat said', async () => {
  await fleet.join('aaa', { tasks: ['a'] })
  const slots = async () => {
    const [{ freeSlots, activeRuns } = { freeSlots: null, activeRuns: null }] = await store.findNode('aaa')
    return { freeSlots, activeRuns, busy: (await store.overview()).slots.busy }
  }
  const heartbeat = { health: 'healthy', cpuPercent: 1, memoryMb: 1, completed: 0, failed: 0, uptimeS: 1 } as const
  await store.upsertReplicaHeartbeat('aaa', { ...heartbeat, activeRuns: 2, freeSlots: 0 })
  expect(await slots()).toEqual({ freeSlots: 2, activeRuns: 0, busy: 0 })
  await its.enqueue('a')
  const run = await its.claimOne('a', 'aaa')
  expect(await slots()).toEqual({ freeSlots: 1, activeRuns: 1, busy: 1 })
  await store.settleTaskRuns([{ lease: leaseOf(run), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect(await slots()).toEqual({ freeSlots: 2, activeRuns: 0, busy: 0 })
})

test('stopped nodes are shown only on request; dead nodes stay stale when their heartbeat row is gone', async () => {
  for (const id of ['alive', 'stale', 'forgotten', 'stopped']) await fleet.join(id)
  await fleet.silence('stale')
  await fleet.silence('forgotten')
  await db.deleteFrom('q.replica_heartbeat').where('replica_id', '=', 'forgotten').execute()
  await store.retireReplica('stopped')
  const states = async (stopped: boolean) => (await store.listNodes({ stopped })).map(({ id, state }) => [id, state])
  const here = [
    ['alive', 'alive'],
    ['stale', 'stale'],
    ['forgotten', 'stale'],
  ]
  expect(await states(false)).toEqual(here)
  expect(await states(true)).toEqual([...here, ['stopped', 'stopped']])
  expect(await store.findNode('forgotten')).toMatchObject([{ beatAgeMs: null, health: 'unknown', freeSlots: 0 }])
})

test('a node is found by its name, else by a prefix of its id; an ambiguous text returns all candidates', async () => {
  for (const [id, name] of [
    ['abc1', 'anna'],
    ['abc2', 'bert'],
    ['anna9', 'carl'],
  ] as const)
    await store.registerReplica(introduction(id, name))
  expect(await found('anna')).toEqual(['abc1'])
  expect(await found('abc2')).toEqual(['abc2'])
  expect(await found('ann')).toEqual(['anna9'])
  expect((await found('abc')).toSorted()).toEqual(['abc1', 'abc2'])
  expect(await found('%')).toEqual([])
  expect(await found('')).toEqual([])
})

test('an id that is a prefix of another id matches only itself', async () => {
  await fleet.join('n1')
  await fleet.join('n10')
  expect(await found('n1')).toEqual(['n1'])
})

test('a name belongs to the live replica; an earlier one is found when no live replica has it', async () => {
  await store.registerReplica(introduction('old', 'shared'))
  await fleet.silence('old')
  await store.registerReplica(introduction('new', 'shared'))
  expect(await found('shared')).toEqual(['new'])
  await fleet.silence('new')
  expect(await found('shared')).toEqual(['new', 'old'])
})

test('discovery returns the endpoints of live replicas with the capability, draining ones last', async () => {
  await fleet.join('leaving', { capabilities: ['signer'], endpoint: 'http://leaving' })
  await store.drainReplica('leaving', { by: 'ada' })
  await fleet.join('signer', { capabilities: ['gpu', 'signer'], endpoint: 'http://signer' })
  await fleet.join('other', { capabilities: ['gpu'] })
  for (const id of ['silent', 'gone']) await fleet.join(id, { capabilities: ['signer'] })
  await fleet.silence('silent')
  await store.retireReplica('gone')
  expect(await store.liveReplicas({ capability: 'signer' })).toMatchObject([
    { id: 'signer', endpoint: 'http://signer', draining: false },
    { id: 'leaving', endpoint: 'http://leaving', draining: true },
  ])
  expect((await store.liveReplicas()).map(({ id }) => id)).toEqual(['signer', 'other', 'leaving'])
})

test('alive is judged by the replica’s own threshold', async () => {
  const slow = introduction('slow', 'slow')
  const thresholds = { ...slow.thresholds, replicaStaleMs: 600_000 }
  await store.registerReplica({ ...slow, thresholds })
  await fleet.join('quick')
  const aged = { last_heartbeat: new Date(Date.now() - 300_000) }
  await db.updateTable('q.replica_heartbeat').set(aged).execute()
  expect((await store.liveReplicas()).map(({ id }) => id)).toEqual(['slow'])
})

test('a node whose session is gone is not alive, as soon as others may recover its runs; a heartbeat makes it alive again', async () => {
  await fleet.join('killed')
  const until = sql<Date>`clock_timestamp() + interval '1 hour'`
  await db.insertInto('q.duty').values({ name: 'presence', holder: 'watcher', until }).execute()
  const gone = async (ago: string, life: string) => {
    await sql`DELETE FROM q.presence`.execute(db)
    await sql`INSERT INTO q.presence (num, replica_id, server_start, gone_at)
      SELECT num, id, pg_postmaster_start_time() - ${life}::interval, clock_timestamp() - ${ago}::interval
      FROM q.replica WHERE id = 'killed'`.execute(db)
    return (await store.listNodes()).map((node) => node.state)
  }
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() - interval '10 seconds'`.execute(db)
  expect(await gone('1 second', '0')).toEqual(['alive'])
  expect(await gone('3 seconds', '1 hour')).toEqual(['alive'])
  expect(await gone('3 seconds', '0')).toEqual(['stale'])
  const stats = { health: 'healthy', cpuPercent: 1, memoryMb: 1, activeRuns: 0, freeSlots: 1 } as const
  await store.upsertReplicaHeartbeat('killed', { ...stats, completed: 0, failed: 0, uptimeS: 1 })
  expect((await store.listNodes()).map((node) => node.state)).toEqual(['alive'])
  await sql`DELETE FROM q.presence`.execute(db)
  await db.deleteFrom('q.duty').where('holder', '=', 'watcher').execute()
})
