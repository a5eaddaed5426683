import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openReplicaSession, type StaleQuestion } from '@q/store'
import { fixture } from './fixture.ts'
import { introduction } from './introduction.ts'

const { url, store, db, another, enqueue, claimOne } = await fixture()

async function present(id: string, own: { presenceGraceMs?: number } = {}) {
  const { num } = await store.registerReplica({ ...introduction(id, id), ...own })
  const lost = Promise.withResolvers<void>()
  const session = await openReplicaSession(url, { id, num }, { onWake: () => {}, onLost: () => lost.resolve() })
  onTestFinished(() => session?.close())
  return { num, session: session!, lost: lost.promise }
}

/** As if its process had been killed: the server sees the session end. */
async function cut(num: number): Promise<void> {
  await sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = ${num} AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db)
}

async function isGone(id: string, asked = store): Promise<boolean> {
  return (await asked.markPresence()).some(({ replicaId }) => replicaId === id)
}

async function staleOf(id: string, question: Partial<StaleQuestion> = {}) {
  const stale = await store.getStaleTaskRuns({ causes: ['presence'], staleMs: 0, ...question })
  return stale.filter((run) => run.replicaId === id)
}

/** The lock goes when the session has ended, which the server does in its own time. */
async function gone(id: string): Promise<void> {
  for (let looks = 0; looks < 500; looks++) if (await isGone(id)) return
  throw new Error(`${id} never looked gone`)
}

test('a replica that holds its lock is there; one whose session ended is gone, since when is written down once', async () => {
  const { num, lost } = await present('cut')
  await enqueue('cut')
  await claimOne('cut', 'cut')
  expect(await store.markPresence()).toEqual([])
  await cut(num)
  await lost
  await gone('cut')
  const first = await db.selectFrom('q.presence').select('gone_at').where('num', '=', num).executeTakeFirstOrThrow()
  expect(await isGone('cut', another())).toBe(true)
  const again = await db.selectFrom('q.presence').select('gone_at').where('num', '=', num).executeTakeFirstOrThrow()
  expect(again).toEqual(first)
})

test('its runs are stale after the grace, unless it has beaten since', async () => {
  const { num } = await present('dying')
  await enqueue('dying')
  const { runId } = await claimOne('dying', 'dying')
  expect(await staleOf('dying')).toEqual([])
  await cut(num)
  await gone('dying')
  expect(await staleOf('dying', { staleMs: 3_600_000 })).toEqual([])
  expect(await staleOf('dying')).toMatchObject([{ id: runId, cause: 'presence' }])
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: sql<Date>`clock_timestamp()` })
    .where('replica_id', '=', 'dying')
    .execute()
  expect(await staleOf('dying')).toEqual([])
})

test('a claim that was still under way when its replica died is recovered with the rest', async () => {
  const { num } = await present('claiming')
  await enqueue('claiming')
  await enqueue('claiming')
  const before = await claimOne('claiming', 'claiming')
  await cut(num)
  await gone('claiming')
  const after = await claimOne('claiming', 'claiming')
  expect(await staleOf('claiming')).toMatchObject([{ id: before.runId }, { id: after.runId }])
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

test('the grace is the holder’s own, whoever watches: a long one is not cut short, and a short one not stretched', async () => {
  await killed('patient', 10, { presenceGraceMs: 30_000 })
  const hasty = await killed('hasty', 2, { presenceGraceMs: 1_000 })
  const seen = (await store.markPresence()).filter(({ replicaId }) => ['patient', 'hasty'].includes(replicaId))
  expect(new Map(seen.map(({ replicaId, graceMs }) => [replicaId, graceMs]))).toEqual(
    new Map([
      ['patient', 30_000],
      ['hasty', 1_000],
    ]),
  )
  const nodes = await store.listNodes()
  expect(nodes.flatMap(({ id, state }) => (['patient', 'hasty'].includes(id) ? [[id, state]] : []))).toEqual([
    ['patient', 'alive'],
    ['hasty', 'stale'],
  ])
  const recovered = await store.reap({ by: 'watcher', causes: ['presence'] })
  expect(recovered.ids).toContain(hasty.runId)
  expect(await store.heldTaskRuns('patient')).toHaveLength(1)
  await goneFor('patient', 31)
  // Whoever has watched for less than its grace has no eyes for that either.
  await store.reap({ by: 'newcomer', causes: ['presence'], thresholdMsMax: 20_000 })
  expect(await store.heldTaskRuns('patient')).toHaveLength(1)
  await store.reap({ by: 'watcher', causes: ['presence'], thresholdMsMax: 30_000 })
  expect(await store.heldTaskRuns('patient')).toEqual([])
})

test('what presence saw and nobody acted on is recovered by heartbeats, by those who have no sessions', async () => {
  const { runId } = await killed('unwatched', 3_600)
  const causes = ['never-alive', 'replica-beat', 'claimer-beat', 'runner-beat'] as const
  expect((await store.reap({ by: 'without-sessions', causes })).ids).toEqual([runId])
})

test('one that withdraws its record, or takes its lock again, is not judged by this layer', async () => {
  const { num } = await present('withdrawn')
  await enqueue('withdrawn')
  await claimOne('withdrawn', 'withdrawn')
  await cut(num)
  await gone('withdrawn')
  await store.withdrawPresence('withdrawn')
  expect(await staleOf('withdrawn')).toEqual([])
  const back = await openReplicaSession(url, { id: 'withdrawn', num }, { onWake: () => {}, onLost: () => {} })
  onTestFinished(() => back?.close())
  expect(await isGone('withdrawn')).toBe(false)
  expect(await staleOf('withdrawn')).toEqual([])
})

test('locks of an earlier life of the server make nobody look dead', async () => {
  const { num } = await present('restarted')
  await enqueue('restarted')
  await claimOne('restarted', 'restarted')
  await cut(num)
  await gone('restarted')
  await db
    .updateTable('q.presence')
    .set({ server_start: new Date(0) })
    .where('num', '=', num)
    .execute()
  expect(await staleOf('restarted')).toEqual([])
  expect(await isGone('restarted')).toBe(false)
})

test('a duty is held by one, renewed by its holder, and free when it ran out or was given up', async () => {
  const duty = { name: 'reap', holder: 'a', forMs: 60_000 }
  expect(await store.takeDuty(duty)).toMatchObject({ mine: true })
  expect(await store.takeDuty(duty)).toMatchObject({ mine: true })
  const refused = await another().takeDuty({ ...duty, holder: 'b' })
  expect(refused.mine).toBe(false)
  expect(refused.untilInMs).toBeGreaterThan(50_000)
  await db
    .updateTable('q.duty')
    .set({ until: new Date(0) })
    .where('name', '=', 'reap')
    .execute()
  expect(await store.takeDuty({ ...duty, holder: 'b' })).toMatchObject({ mine: true })
  await store.leaveDuty(duty)
  expect(await store.takeDuty(duty)).toMatchObject({ mine: false })
  await store.leaveDuty({ ...duty, holder: 'b' })
  expect(await store.takeDuty(duty)).toMatchObject({ mine: true })
})

test('of many who ask for a duty at once one gets it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => another().takeDuty({ name: 'one', holder: `r${index}`, forMs: 60_000 })),
  )
  expect(answers.filter(({ mine }) => mine)).toHaveLength(1)
})

test('a session that was given to somebody else, or no longer listens, does not prove itself', async () => {
  const { session, lost } = await present('proven')
  await expect(session.prove()).resolves.toBeUndefined()
  await db.deleteFrom('q.presence').where('replica_id', '=', 'proven').execute()
  // A withdrawal that came late is undone.
  await session.prove()
  expect(await db.selectFrom('q.presence').select('gone_at').where('replica_id', '=', 'proven').execute()).toEqual([
    { gone_at: null },
  ])
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q session' AND datname = current_database()`.execute(db)
  await lost
  await expect(session.prove()).rejects.toThrow(/terminat|not queryable|closed/)
})

test('who holds a duty for longer than another would is relieved by the one who looks more often', async () => {
  await store.takeDuty({ name: 'checks', holder: 'patient', forMs: 60_000 })
  expect(await store.takeDuty({ name: 'checks', holder: 'eager', forMs: 1_000 })).toMatchObject({ mine: true })
  expect(await store.takeDuty({ name: 'checks', holder: 'patient', forMs: 60_000 })).toMatchObject({ mine: false })
})
