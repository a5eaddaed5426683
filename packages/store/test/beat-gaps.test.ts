/** Times without a heartbeat are recorded by the heartbeat that ends them. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { db, store } = await fixture()
const stats = {
  health: 'healthy',
  cpuPercent: 0,
  memoryMb: 0,
  activeRuns: 0,
  freeSlots: 0,
  completed: 0,
  failed: 0,
  uptimeS: 0,
} as const

async function lastBeatWas(id: string, ago: string): Promise<void> {
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() - ${ago}::interval WHERE replica_id = ${id}`.execute(
    db,
  )
}

function gapsOf(id: string) {
  return db
    .selectFrom('q.beat_gap')
    .select(sql<number>`round(extract(epoch FROM ended_at - last_beat))::int`.as('seconds'))
    .where('replica_id', '=', id)
    .execute()
}

test('a heartbeat in time, or up to half an interval late, leaves no gap', async () => {
  await store.registerReplica(introduction('punctual'))
  await store.upsertReplicaHeartbeat('punctual', stats)
  await lastBeatWas('punctual', '14 seconds')
  await store.upsertReplicaHeartbeat('punctual', stats)
  expect(await gapsOf('punctual')).toEqual([])
})

test('a heartbeat that comes later than that records the gap from the last one to itself, once', async () => {
  await store.registerReplica(introduction('late'))
  await lastBeatWas('late', '40 seconds')
  await store.upsertReplicaHeartbeat('late', stats)
  await store.upsertReplicaHeartbeat('late', stats)
  expect(await gapsOf('late')).toEqual([{ seconds: 40 }])
})

test('a slow replica is judged by its own interval', async () => {
  const slow = introduction('slow')
  await store.registerReplica({
    ...slow,
    thresholds: { ...slow.thresholds, replicaBeatMs: 300_000, replicaStaleMs: 600_000 },
  })
  await lastBeatWas('slow', '40 seconds')
  await store.upsertReplicaHeartbeat('slow', stats)
  expect(await gapsOf('slow')).toEqual([])
})
