import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openReplicaSession, type MissingReplica } from '@q/store'
import { presenceFixture } from './presence-fixture.ts'

const { url, store, db, another, enqueue, claimOne, present, cut } = await presenceFixture()

const post = { duty: 'presence', watcherMs: 60_000, deputyMs: 60_000 }

/** The replicas that the watcher sees missing. */
async function missing(asked = store): Promise<readonly MissingReplica[]> {
  return (await asked.watchPresence({ replicaId: 'watcher', ...post })).gone
}

async function isGone(id: string, asked = store): Promise<boolean> {
  return (await missing(asked)).some(({ replicaId }) => replicaId === id)
}

async function evidenceOf(id: string): Promise<string[]> {
  return (await missing()).flatMap(({ replicaId, evidence }) => (replicaId === id ? [evidence] : []))
}

/** The runs that are stale to a watcher that has waited on this evidence. */
async function staleOf(id: string, evidence: readonly string[]) {
  const stale = await store.getStaleTaskRuns({ causes: ['presence'], gone: evidence })
  return stale.filter((run) => run.replicaId === id)
}

/** The lock goes when the session has ended, which the server does in its own time. */
async function gone(id: string): Promise<void> {
  for (let looks = 0; looks < 500; looks++) if (await isGone(id)) return
  throw new Error(`${id} never looked gone`)
}

test('a replica that holds its lock is present; the time at which a lock was first missing is recorded once', async () => {
  const { num, lost } = await present('cut')
  await enqueue('cut')
  await claimOne('cut', 'cut')
  expect(await isGone('cut')).toBe(false)
  await cut(num)
  await lost
  await gone('cut')
  const first = await db.selectFrom('q.presence').select('gone_at').where('num', '=', num).executeTakeFirstOrThrow()
  expect(await isGone('cut', another())).toBe(true)
  const again = await db.selectFrom('q.presence').select('gone_at').where('num', '=', num).executeTakeFirstOrThrow()
  expect(again).toEqual(first)
})

test('runs of a gone replica are stale by the evidence that the watcher waited on, and any heartbeat ends that evidence', async () => {
  const { num } = await present('dying')
  await enqueue('dying')
  const { runId } = await claimOne('dying', 'dying')
  expect(await evidenceOf('dying')).toEqual([])
  await cut(num)
  await gone('dying')
  const evidence = await evidenceOf('dying')
  expect(await evidenceOf('dying')).toEqual(evidence)
  expect(await staleOf('dying', [])).toEqual([])
  expect(await staleOf('dying', evidence)).toMatchObject([{ id: runId, cause: 'presence' }])
  // Whatever the clock shows: a heartbeat is a sign of life even if it is older than the mark.
  for (const hours of [-1, 1]) {
    const before = await evidenceOf('dying')
    await sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() + ${hours} * interval '1 hour'
      WHERE replica_id = 'dying'`.execute(db)
    expect(await staleOf('dying', before)).toEqual([])
  }
})

test('a clock that stepped back does not hide from the watcher that a replica died', async () => {
  const { runId } = await killed('stepped', 0)
  const ahead = sql<Date>`clock_timestamp() + interval '1 hour'`
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: ahead })
    .where('replica_id', '=', 'stepped')
    .execute()
  await db.updateTable('q.replica').set({ started_at: ahead }).where('id', '=', 'stepped').execute()
  await db.updateTable('q.presence').set({ gone_at: ahead }).where('replica_id', '=', 'stepped').execute()
  const [seen] = (await missing()).filter(({ replicaId }) => replicaId === 'stepped')
  expect(seen).toMatchObject({ goneForMs: 0 })
  expect(await staleOf('stepped', [seen!.evidence])).toMatchObject([{ id: runId, cause: 'presence' }])
})

test('a claim that was in flight when its replica died is recovered too', async () => {
  const { num } = await present('claiming')
  await enqueue('claiming')
  await enqueue('claiming')
  const before = await claimOne('claiming', 'claiming')
  await cut(num)
  await gone('claiming')
  const after = await claimOne('claiming', 'claiming')
  expect(await staleOf('claiming', await evidenceOf('claiming'))).toMatchObject([
    { id: before.runId },
    { id: after.runId },
  ])
})

/** Seen missing so long ago, and not heard of for a while before that. */
async function goneFor(id: string, seconds: number): Promise<void> {
  const ago = (s: number) => sql<Date>`clock_timestamp() - ${s} * interval '1 s'`
  const before = ago(2 * seconds)
  await db
    .updateTable('q.presence')
    .set({ gone_at: ago(seconds) })
    .where('replica_id', '=', id)
    .execute()
  await db.updateTable('q.replica_heartbeat').set({ last_heartbeat: before }).where('replica_id', '=', id).execute()
  await db.updateTable('q.replica').set({ started_at: before }).where('id', '=', id).execute()
  await db
    .updateTable('q.task_run')
    .set({ claimed_at: before, started_at: before })
    .where('replica_id', '=', id)
    .where('held', '=', true)
    .execute()
}

/** A replica with one run, killed so long ago. */
async function killed(id: string, seconds: number, own: { presenceGraceMs?: number } = {}) {
  const { num } = await present(id, own)
  await enqueue(id)
  const run = await claimOne(id, id)
  await cut(num)
  await gone(id)
  await goneFor(id, seconds)
  return run
}

test('the watcher gets the grace that each replica registered, and how long ago it was marked', async () => {
  await killed('patient', 10, { presenceGraceMs: 30_000 })
  await killed('hasty', 2, { presenceGraceMs: 1_000 })
  const seen = (await missing()).filter(({ replicaId }) => ['patient', 'hasty'].includes(replicaId))
  expect(new Map(seen.map(({ replicaId, graceMs }) => [replicaId, graceMs]))).toEqual(
    new Map([
      ['patient', 30_000],
      ['hasty', 1_000],
    ]),
  )
  expect(seen.every(({ goneForMs }) => goneForMs >= 2_000)).toBe(true)
  const nodes = await store.listNodes()
  expect(nodes.flatMap(({ id, state }) => (['patient', 'hasty'].includes(id) ? [[id, state]] : []))).toEqual([
    ['patient', 'alive'],
    ['hasty', 'stale'],
  ])
})

test('a death that presence showed and no watcher acted on is recovered by heartbeats, even by replicas without sessions', async () => {
  const { runId } = await killed('unwatched', 3_600)
  const causes = ['never-alive', 'replica-beat', 'claimer-beat', 'runner-beat'] as const
  expect((await store.reap({ by: 'without-sessions', causes })).ids).toEqual([runId])
})

test('a replica that was killed is lost although no replica watches, and one that holds its lock is not', async () => {
  await missing() // until its duty ends below, a replica watches
  const dead = await present('last-dead')
  await present('last-living')
  await cut(dead.num)
  await dead.lost
  const ago = sql<Date>`clock_timestamp() - interval '5 s'`
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: ago })
    .where('replica_id', 'in', ['last-dead', 'last-living'])
    .execute()
  const watched = await db.selectFrom('q.duty').selectAll().where('name', '=', post.duty).execute()
  expect(watched).toHaveLength(1)
  expect(await statesOf('last-dead', 'last-living')).toEqual({ 'last-dead': 'alive held', 'last-living': 'alive held' })
  await db.updateTable('q.duty').set({ until: ago }).where('name', 'like', `${post.duty}%`).execute()
  await expect
    .poll(() => statesOf('last-dead', 'last-living'), { timeout: 30_000 })
    .toEqual({ 'last-dead': 'stale gone', 'last-living': 'alive held' })
})

async function statesOf(...ids: readonly string[]): Promise<Record<string, string>> {
  const nodes = await store.listNodes()
  const chosen = nodes.filter(({ id }) => ids.includes(id))
  return Object.fromEntries(chosen.map(({ id, state, presence }) => [id, `${state} ${presence}`]))
}

test('a replica that withdraws its record, or takes its lock again, is not judged by this layer', async () => {
  const { num } = await present('withdrawn')
  await enqueue('withdrawn')
  await claimOne('withdrawn', 'withdrawn')
  await cut(num)
  await gone('withdrawn')
  const evidence = await evidenceOf('withdrawn')
  await store.withdrawPresence('withdrawn')
  expect(await staleOf('withdrawn', evidence)).toEqual([])
  const back = await openReplicaSession(url, { id: 'withdrawn', num }, { onWake: () => {}, onLost: () => {} })
  onTestFinished(() => back?.close())
  expect(await isGone('withdrawn')).toBe(false)
  expect(await staleOf('withdrawn', evidence)).toEqual([])
})

test('locks from before a restart of the server make no replica look dead', async () => {
  const { num } = await present('restarted')
  await enqueue('restarted')
  await claimOne('restarted', 'restarted')
  await cut(num)
  await gone('restarted')
  const evidence = await evidenceOf('restarted')
  await db
    .updateTable('q.presence')
    .set({ server_start: new Date(0) })
    .where('num', '=', num)
    .execute()
  expect(await staleOf('restarted', evidence)).toEqual([])
  expect(await isGone('restarted')).toBe(false)
})

test('a session that belongs to another client, or no longer listens, fails its check', async () => {
  const { session, lost } = await present('proven')
  await expect(session.verify()).resolves.toBeUndefined()
  await db.deleteFrom('q.presence').where('replica_id', '=', 'proven').execute()
  // A withdrawal that came late is undone.
  await session.verify()
  expect(await db.selectFrom('q.presence').select('gone_at').where('replica_id', '=', 'proven').execute()).toEqual([
    { gone_at: null },
  ])
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q session' AND datname = current_database()`.execute(db)
  await lost
  await expect(session.verify()).rejects.toThrow(/terminat|not queryable|closed/)
})
