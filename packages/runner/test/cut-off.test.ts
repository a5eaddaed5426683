/** Replicas that lose the database, or their session, and live. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { presets, type RunnerEvent } from '@q/runner'
import { connect, createStore } from '@q/store'
import { cluster, eventually } from './fixture.ts'
import { marksFile } from './marks.ts'
import { stallingProxy } from './stalling-proxy.ts'

async function access(url: string) {
  const connection = connect(url, { purpose: 'control' })
  onTestFinished(() => connection.close())
  return { db: connection.db, store: createStore(connection.db) }
}

type Db = Awaited<ReturnType<typeof access>>['db']

function endSessions(db: Db): Promise<unknown> {
  return sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q session' AND datname = current_database()`.execute(db)
}

async function presences(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('q.presence').select('replica_id').where('gone_at', 'is', null).execute()
  return rows.map((row) => row.replica_id)
}

test('a replica that is cut off stops what others may start before they start it; the rest goes on, and loses', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
  const marks = marksFile()
  const proxy = await stallingProxy(url)
  const cutOff = await start({ Q_PRESET: 'fast' }, proxy.url)
  const again = await q.enqueue('markAgain', { file: marks.file, name: 'again', ms: 5_000 })
  const once = await q.enqueue('markOnce', { file: marks.file, name: 'once', ms: 9_000 })
  await eventually(() => (marks.all().length === 2 ? true : undefined), 'both begin')
  const other = await start({ Q_PRESET: 'fast' })
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present')
  proxy.cut()
  expect(await again.result({ timeout: '30s' })).toEqual(expect.any(Number))
  expect(await again.status()).toMatchObject({ replicaId: other.runner.replicaId })
  const [stopped] = marks.all('again').filter(({ what }) => what === 'stopped')
  const [, second] = marks.all('again').filter(({ what }) => what === 'began')
  expect(stopped!.atMs).toBeLessThanOrEqual(second!.atMs)
  expect(cutOff.events).toContainEqual(expect.objectContaining({ type: 'fenced', runIds: [again.id] }))
  // Others were told that it died; its code went on to the end, and does not count.
  await expect(once.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
  await eventually(() => (marks.count('effect', 'once') === 1 ? true : undefined), 'its code ends')
  proxy.restore()
  await eventually(() => cutOff.events.find((event) => event.type === 'lease-lost'), 'it learns')
  expect(await once.status()).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  // What it could not send is written down.
  const failures = await eventually(async () => {
    const rows = await db
      .selectFrom('q.heartbeat_failure')
      .selectAll()
      .where('replica_id', '=', cutOff.runner.replicaId)
      .orderBy('id')
      .execute()
    return rows.length > 0 ? rows : undefined
  }, 'failures are recorded')
  expect(failures.map((row) => row.consecutive)).toEqual(failures.map((_, index) => index + 1))
  await other.runner.drain()
  expect(await (await q.enqueue('echo', 'back')).result({ timeout: '20s' })).toBe('back')
})

test('a live replica whose session is ended is not taken for dead, and gets a new one', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
  const replicas = [await start(), await start()]
  // By what they say themselves: the records of sessions that are gone stay for a moment.
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
  expect(await run.result({ timeout: '20s' })).toBe('waited')
  expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

test('one that cannot get a new session, because no connection is left, is not taken for dead either', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
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
  expect(await run.result({ timeout: '20s' })).toBe('waited')
  expect(await run.status()).toMatchObject({ replicaId: poor.runner.replicaId, attempt: 1 })
  expect(await presences(db)).toEqual([watching.runner.replicaId])
  expect(poor.events).toContainEqual(expect.objectContaining({ type: 'loop-failed', loop: 'session' }))
  await sql`ALTER ROLE ${sql.id(role)} CONNECTION LIMIT -1`.execute(db)
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'it is present again')
})

test('a session that breaks when its record has just been entered leaves nothing by which its replica is taken for dead', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
  await start({ Q_QUEUES: 'another' })
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'somebody watches')
  const proxy = await stallingProxy(url)
  proxy.cutAt('INSERT 0 1') // the answer to what enters the record
  const { runner } = await start({}, url, proxy.url)
  const run = await q.enqueue('patient', { ms: 8_000 })
  expect(await run.result({ timeout: '20s' })).toBe('waited')
  expect(await run.status()).toMatchObject({ replicaId: runner.replicaId })
  expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

test('a slow replica is not reaped by a fast neighbour', async () => {
  const { q, start, url } = await cluster()
  const { db, store } = await access(url)
  const slow = await start({ Q_PRESET: 'relaxed', Q_THREADS: '1', Q_QUEUES: 'default' })
  const run = await q.enqueue('patient', { ms: 10_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  await start({ Q_PRESET: 'fast', Q_QUEUES: 'another' })
  // Another one that died, and is as fast as the neighbour.
  const { thresholds } = presets['fast']!
  const dead = {
    version: '0',
    queues: [],
    tasks: [],
    capabilities: [],
    slots: 1,
    preset: 'fast',
    onCrash: 'fail',
  } as const
  await store.registerReplica({ ...dead, id: 'dead', name: 'dead', hostname: 'h', pid: 1, thresholds })
  const orphan = await q.enqueue('patient', { ms: 1 }, { delay: '1h' })
  await sql`UPDATE q.task_run SET status = 'AVAILABLE', waiting_for = NULL WHERE id = ${orphan.id}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'dead', attempt = 1, fence = 1 WHERE id = ${orphan.id}`.execute(
    db,
  )
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() - interval '1 min'`.execute(db)
  await sql`UPDATE q.replica SET started_at = clock_timestamp() - interval '1 h'`.execute(db)
  await sql`UPDATE q.task_run SET started_at = clock_timestamp() - interval '1 h', claimed_at = clock_timestamp() - interval '1 h'
    WHERE held`.execute(db)
  await expect(orphan.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
  expect(await run.status()).toMatchObject({ status: 'RUNNING', replicaId: slow.runner.replicaId })
})

test('connections that are half open are noticed and replaced, and nobody is taken for dead', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
  const proxy = await stallingProxy(url)
  const half = await start({ Q_PRESET: 'fast' }, proxy.url)
  const neighbour = await start({ Q_PRESET: 'fast', Q_QUEUES: 'another' })
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present')
  const run = await q.enqueue('patient', { ms: 3_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  proxy.halfOpen()
  expect(await run.result({ timeout: '30s' })).toBe('waited')
  expect(await (await q.enqueue('echo', 'after')).result({ timeout: '30s' })).toBe('after')
  await eventually(() => half.events.find((event) => event.type === 'session-lost'), 'the session is given up')
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present again')
  expect(neighbour.events.filter((event) => event.type === 'runs-recovered')).toEqual([])
})

test('what is switched off stays as it is', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
  const off = { Q_PRESET: 'fast', Q_QUEUES: 'another', Q_AUTO_FAIL_STALE_RUNNING: 'off' }
  await start(off)
  const [running, claimed] = [await q.enqueue('echo', 1), await q.enqueue('echo', 2)]
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'never' WHERE id = ${running.id}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'CLAIMED', replica_id = 'never' WHERE id = ${claimed.id}`.execute(db)
  await eventually(async () => ((await claimed.status()).status === 'AVAILABLE' ? true : undefined), 'it is requeued')
  expect(await running.status()).toMatchObject({ status: 'RUNNING' })
})

test('a claim whose answer got lost is given back with the next beat, and the attempt does not count', async () => {
  const { q, start, url } = await cluster()
  const { store } = await access(url)
  const { runner, events } = await start({ Q_PRESET: 'fast', Q_QUEUES: 'another' })
  const runs = [await q.enqueue('echo', 'a'), await q.enqueue('echo', 'b')]
  const { replicaId } = runner
  const who = { replicaId, tasks: ['echo'], queues: [], limit: 1 }
  await store.claimAvailableTaskRuns(who)
  await store.claimAvailableTaskRuns({ ...who, ahead: true })
  for (const run of runs) {
    await eventually(async () => ((await run.status()).status === 'AVAILABLE' ? true : undefined), 'given back')
    expect(await run.status()).toMatchObject({ attempt: 0, replicaId: null })
  }
  expect(events.filter((event) => event.type === 'runs-released')).not.toEqual([])
})

test('a replica whose row was removed introduces itself again, and is present under its new number', async () => {
  const { q, start, url } = await cluster()
  const { db } = await access(url)
  const { runner, events } = await start({ Q_PRESET: 'fast' })
  await eventually(async () => ((await presences(db)).length === 1 ? true : undefined), 'present')
  const run = await q.enqueue('patient', { ms: 4_000 })
  await db.deleteFrom('q.replica').where('id', '=', runner.replicaId).execute()
  await eventually(() => events.find((event) => event.type === 'introduced-again'), 'introduced again')
  const { num } = await db
    .selectFrom('q.replica')
    .select('num')
    .where('id', '=', runner.replicaId)
    .executeTakeFirstOrThrow()
  await eventually(async () => {
    const rows = await db.selectFrom('q.presence').selectAll().where('gone_at', 'is', null).execute()
    return rows.some((row) => row.num === num) ? true : undefined
  }, 'present again')
  expect(await run.result({ timeout: '20s' })).toBe('waited')
})

function count(events: readonly { type: string }[], type: string): number {
  return events.filter((event) => event.type === type).length
}
