import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { createDatabaseClock } from '../src/main/liveness/database-clock.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'
import { cluster, eventually, replicaNamed } from './fixture.ts'
import { heartOf } from './heartbeat-scene.ts'

const hour = 3_600_000

/** A request sent at that time of ours and answered 40 ms later; the clock was read in the middle. */
function ask(clock: ReturnType<typeof createDatabaseClock>, sentMs: number, aheadMs: number): number | undefined {
  return clock.record({ sentMs, receivedMs: sentMs + 40, clockMs: sentMs + 20 + aheadMs })
}

test('a clock that runs like ours, or is slewed, has not jumped, however slow the responses are', () => {
  const clock = createDatabaseClock()
  expect(ask(clock, 0, hour)).toBeUndefined()
  expect(ask(clock, 10_000, hour + 500)).toBeUndefined()
  expect(clock.record({ sentMs: 20_000, receivedMs: 29_000, clockMs: 20_001 + hour })).toBeUndefined()
  expect(clock.record({ sentMs: 30_000, receivedMs: 39_000, clockMs: 38_999 + hour })).toBeUndefined()
  expect(ask(clock, 40_000, hour)).toBeUndefined()
})

test('a jump is reported once, with its direction', () => {
  const clock = createDatabaseClock()
  ask(clock, 0, 0)
  expect(ask(clock, 10_000, hour)).toBeGreaterThan(hour - 100)
  expect(ask(clock, 20_000, hour)).toBeUndefined()
  expect(ask(clock, 30_000, 0)).toBeLessThan(100 - hour)
})

test('the last beat bounds the time that the clock can show; before the first one there is no bound', () => {
  const clock = createDatabaseClock()
  expect(clock.latestMs(0)).toBe(Number.NEGATIVE_INFINITY)
  ask(clock, 0, hour)
  const latestMs = clock.latestMs(5_000)
  expect(latestMs).toBeGreaterThan(5_000 + hour)
  expect(latestMs).toBeLessThan(5_000 + hour + 5_000)
})

test('the clock is steady while no response shows a step, however small; a slow response shows none', () => {
  const clock = createDatabaseClock()
  expect(clock.steadyForMs(1_000)).toBe(0)
  expect(clock.earliestMs(0)).toBe(Number.POSITIVE_INFINITY)
  ask(clock, 0, hour)
  ask(clock, 1_000, hour + 50)
  clock.record({ sentMs: 2_000, receivedMs: 4_000, clockMs: 3_900 + hour })
  expect(clock.steadyForMs(5_040)).toBe(5_000)
  ask(clock, 6_000, hour + 300)
  expect(clock.steadyForMs(6_540)).toBe(500)
  expect(clock.earliestMs(7_000)).toBeGreaterThan(7_000 + hour - 5_000)
  expect(clock.earliestMs(7_000)).toBeLessThan(7_000 + hour)
})

test('after a clock jump a replica recovers no run until its beats have been accepted for a whole threshold', async () => {
  const now = { ms: 0 }
  const database = { aheadMs: 0 }
  const streak = createBeatStreak(10_000)
  const upsertReplicaHeartbeat = async () => ({
    known: true,
    draining: null,
    tooOld: false,
    clockMs: now.ms + database.aheadMs,
  })
  const heart = heartOf({ upsertReplicaHeartbeat }, { streak, nowMs: () => now.ms })
  for (; now.ms < 100_000; now.ms += 10_000) await heart.tick()
  expect(streak.unbrokenForMs(now.ms)).toBe(100_000)
  database.aheadMs = hour
  await heart.tick()
  expect(streak.unbrokenForMs(now.ms)).toBe(0)
  now.ms += 10_000
  await heart.tick()
  expect(streak.unbrokenForMs(now.ms)).toBe(10_000)
})

/** From now on the clock of this database, as every session sees it that connects after this, can be turned. */
async function turnableClock(url: string) {
  const { db, close } = connect(url, { purpose: 'control' })
  await sql`CREATE SCHEMA turned`.execute(db)
  await sql`CREATE TABLE turned.clock (by interval NOT NULL)`.execute(db)
  await sql`INSERT INTO turned.clock VALUES ('0')`.execute(db)
  await sql`CREATE FUNCTION turned.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT pg_catalog.clock_timestamp() + (SELECT by FROM turned.clock)'`.execute(db)
  // Sessions find these functions first.
  await sql`DO 'BEGIN EXECUTE format($$ALTER DATABASE %I SET search_path = turned, pg_catalog, public$$, current_database()); END'`.execute(
    db,
  )
  return {
    db,
    async turnByAnHour(): Promise<Date> {
      await sql`UPDATE turned.clock SET by = by + '1 hour'`.execute(db)
      const { rows } = await sql<{ now: Date }>`SELECT turned.clock_timestamp() AS now`.execute(db)
      return rows[0]!.now
    },
    [Symbol.asyncDispose]: close,
  }
}

test('a jump of the database’s clock makes no replica count as dead, and a replica that really dies is still recovered', async () => {
  const { q, url, start } = await cluster()
  await using clock = await turnableClock(url)
  const { db } = clock
  const replicas = [await start({ Q_PRESET: 'fast' }), await start({ Q_PRESET: 'fast' })]
  const runs = await Promise.all([1, 2, 3, 4].map(() => q.enqueue('spins', { ms: 60_000 })))
  const statuses = () => Promise.all(runs.map(async (run) => (await run.status()).status))
  await eventually(async () => (await statuses()).every((status) => status === 'RUNNING') || undefined, 'all run')
  const reaperSince = (since: Date) =>
    eventually(async () => {
      const duties = db.selectFrom('q.duty').select('until').where('name', '=', 'reap').where('until', '>', since)
      return (await duties.executeTakeFirst()) ?? undefined
    }, 'a replica reaps again')
  await reaperSince(new Date())
  let turned = new Date()
  for (let times = 0; times < 4; times++) {
    turned = await clock.turnByAnHour()
    await eventually(async () => {
      const beats = await db.selectFrom('q.replica_heartbeat').select('last_heartbeat').execute()
      return beats.every(({ last_heartbeat }) => last_heartbeat > turned) || undefined
    }, 'both have beaten since')
  }
  for (const { events } of replicas)
    expect(events.filter(({ type }) => type === 'database-clock-jumped').length).toBeGreaterThan(0)
  await reaperSince(turned)
  expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
  expect(await statuses()).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'RUNNING'])
  const store = createStore(db)
  await store.registerReplica(replicaNamed('dead'))
  const [left] = await store.enqueueTaskRuns([
    { task: 'left', lane: await store.internLane({ queue: 'default', task: 'left' }), payload: {} },
  ])
  await store.claimAvailableTaskRuns({ replicaId: 'dead', tasks: ['left'], queues: [], limit: 1 })
  const recovered = await eventually(
    () => db.selectFrom('q.recovery').select(['run_id', 'cause']).executeTakeFirst(),
    'the run of one that died is recovered',
  )
  expect(recovered).toEqual({ run_id: left!.id, cause: 'replica-beat' })
})
