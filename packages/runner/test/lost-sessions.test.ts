/** Live replicas that lose their session or their row. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { RunnerEvent } from '@q/runner'
import type { Connection } from '@q/store'
import { access, presences } from './database-access.ts'
import { cluster, eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { stallingProxy } from './stalling-proxy.ts'

function endSessions(db: Connection['db']): Promise<unknown> {
  return sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q session' AND datname = current_database()`.execute(db)
}

test('a live replica whose session is ended is not considered dead, and gets a new session', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  const replicas = [await start(), await start()]
  // By their own events: the records of lost sessions stay for a moment.
  const both = (type: RunnerEvent['type'], times: number) =>
    eventually(
      () => (replicas.every(({ events }) => count(events, type) >= times) ? true : undefined),
      `${type} × ${times}`,
    )
  await both('session-opened', 1)
  const run = await q.enqueue('patient', { ms: 7_000 })
  for (let times = 1; times <= 3; times++) {
    await endSessions(db)
    await both('session-lost', times)
    await both('session-opened', times + 1)
  }
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present')
  expect(await run.result({ timeout: '100s' })).toBe('waited')
  expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

test('a destination whose wake was lost is found when the session opens again', async () => {
  const { start, url } = await cluster()
  const { db } = access(url)
  const { events } = await start()
  await eventually(() => count(events, 'session-opened') || undefined, 'the first session')
  // Without the trigger, no wake is sent.
  await db.transaction().execute(async (trx) => {
    await sql`ALTER TABLE q.destination DISABLE TRIGGER destination_changed`.execute(trx)
    await sql`INSERT INTO q.destination (name, kind, news) VALUES ('quiet', 'log', '{alert}')`.execute(trx)
    await sql`ALTER TABLE q.destination ENABLE TRIGGER destination_changed`.execute(trx)
  })
  const duties = db.selectFrom('q.duty').select('holder').where('name', '=', 'deliver quiet')
  expect(await duties.execute()).toEqual([])
  await endSessions(db)
  await eventually(async () => await duties.executeTakeFirst(), 'a replica sends its reports')
})

test('a live replica that cannot get a new session, because no connection is left, is not considered dead', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  const role = `q_limited_${process.pid}`
  await sql`CREATE ROLE ${sql.id(role)} LOGIN PASSWORD 'limited'`.execute(db)
  await sql`GRANT ALL ON SCHEMA q TO ${sql.id(role)}`.execute(db)
  await sql`GRANT ALL ON ALL TABLES IN SCHEMA q TO ${sql.id(role)}`.execute(db)
  onTestFinished(async () => {
    await sql`DROP OWNED BY ${sql.id(role)}`.execute(db)
    await sql`DROP ROLE ${sql.id(role)}`.execute(db)
  })
  const limited = new URL(url)
  limited.username = role
  limited.password = 'limited'
  const poor = await start({ Q_CONNECTIONS: '1' }, limited.href)
  const run = await q.enqueue('patient', { ms: 8_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  const watching = await start()
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present')
  await sql`ALTER ROLE ${sql.id(role)} CONNECTION LIMIT 1`.execute(db)
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q session' AND usename = ${role}`.execute(db)
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'it withdraws its record')
  expect(await run.result({ timeout: '100s' })).toBe('waited')
  expect(await run.status()).toMatchObject({ replicaId: poor.runner.replicaId, attempt: 1 })
  expect(await presences(db)).toEqual([watching.runner.replicaId])
  expect(poor.events).toContainEqual(expect.objectContaining({ type: 'loop-failed', loop: 'presence-session' }))
  await sql`ALTER ROLE ${sql.id(role)} CONNECTION LIMIT -1`.execute(db)
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'it is present again')
})

test('a live replica whose session does not answer keeps its lock until a heartbeat is accepted', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  await start({ Q_QUEUES: 'another' })
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'a replica watches')
  const proxy = await stallingProxy(url)
  const { runner, events } = await start({}, url, proxy.url)
  const { file: until, open } = gate()
  const run = await q.enqueue('patient', { until })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  await db.transaction().execute(async (trx) => {
    // Its heartbeats wait for this lock.
    const its = trx.selectFrom('q.replica_heartbeat').where('replica_id', '=', runner.replicaId)
    await its.select('replica_id').forUpdate().execute()
    proxy.mute()
    await eventually(() => count(events, 'session-lost') || undefined, 'the loss')
    // More looks than the grace lasts.
    for (let looks = 0; looks < 5; looks++) {
      const before = await lookedIn(trx)
      await eventually(async () => ((await lookedIn(trx)) === before ? undefined : true), 'another look')
    }
    expect(await presences(trx)).toContain(runner.replicaId)
  })
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'it withdraws its record')
  open()
  expect(await run.result({ timeout: '100s' })).toBe('waited')
  expect(await run.status()).toMatchObject({ replicaId: runner.replicaId, attempt: 1 })
  expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

test('a session that breaks right after its record was inserted leaves no evidence that its replica is dead', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  await start({ Q_QUEUES: 'another' })
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'a replica watches')
  const proxy = await stallingProxy(url)
  proxy.cutAt('INSERT 0 1') // the answer to what enters the record
  const { runner } = await start({}, url, proxy.url)
  const run = await q.enqueue('patient', { ms: 8_000 })
  expect(await run.result({ timeout: '100s' })).toBe('waited')
  expect(await run.status()).toMatchObject({ replicaId: runner.replicaId })
  expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

test('a replica whose row was removed registers again, and is present under its new number', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  const { runner, events } = await start({ Q_PRESET: 'fast' })
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'present')
  const { file: until, open } = gate()
  const run = await q.enqueue('patient', { until })
  await db.deleteFrom('q.replica').where('id', '=', runner.replicaId).execute()
  await eventually(() => events.find((event) => event.type === 'registered-again'), 'registered again')
  const { num } = await db
    .selectFrom('q.replica')
    .select('num')
    .where('id', '=', runner.replicaId)
    .executeTakeFirstOrThrow()
  await eventually(async () => {
    const rows = await db.selectFrom('q.presence').selectAll().where('gone_at', 'is', null).execute()
    return rows.some((row) => row.num === num) ? true : undefined
  }, 'present again')
  open()
  expect(await run.result({ timeout: '100s' })).toBe('waited')
})

test('a replica whose row says that it stopped registers again, and is marked as idle again', async () => {
  const { start, url } = await cluster()
  const { db, store } = access(url)
  const { runner } = await start({ Q_PRESET: 'fast', Q_POLL_MS: '60000' })
  const idle = () => db.selectFrom('q.idle').selectAll().where('replica_id', '=', runner.replicaId).executeTakeFirst()
  await eventually(idle, 'idle')
  // As after a step of the database's clock: its session stays.
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: new Date(0) })
    .execute()
  await store.deleteStaleReplicaHeartbeats(1_000)
  expect(await eventually(idle, 'idle again', 30_000)).toMatchObject({ replica_id: runner.replicaId })
})

/** Changes with each look of the watcher. */
async function lookedIn(db: Connection['db']): Promise<string> {
  const { rows } = await sql<{
    until: string
  }>`SELECT until::text FROM q.duty WHERE name LIKE 'presence%' ORDER BY name`.execute(db)
  return rows.map(({ until }) => until).join()
}

function count(events: readonly { type: string }[], type: string): number {
  return events.filter((event) => event.type === type).length
}
