/** Groups of equal errors: added by flushes, found from the attempts that ended with them. */
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { fingerprintOf, type ErrorCount } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { db, store, enqueue, claimOne } = await fixture()

beforeEach(async () => {
  await sql`TRUNCATE q.run_tally, q.tally_flush, q.error_group, q.error_tally`.execute(db)
})

function seen(fingerprint: string, more: Partial<ErrorCount> = {}): ErrorCount {
  const usual = {
    code: 'TASK_ERROR',
    name: 'Error',
    message: 'no <num>',
    place: 'load (src/a.ts)',
    seen: 1,
    lastRunId: '1',
    tasks: ['a'],
    version: '1',
  }
  return { fingerprint, ...usual, ...more }
}

function groups() {
  return db.selectFrom('q.error_group').selectAll().orderBy('fingerprint').execute()
}

async function attemptOf(task: string) {
  return db
    .selectFrom('q.task_attempt as a')
    .innerJoin('q.task_run as r', 'r.id', 'a.run_id')
    .selectAll('a')
    .where('r.task', '=', task)
    .executeTakeFirstOrThrow()
}

test('errors of several flushes are one group, with its first and last time, tasks and versions, the latest first', async () => {
  await store.flushTally({ replicaId: 'r', flushNo: 1, runs: [], errors: [seen('f1', { seen: 2 })] })
  await sql`UPDATE q.error_group SET first_seen = first_seen - interval '1 day', last_seen = last_seen - interval '1 day'`.execute(
    db,
  )
  await store.flushTally({
    replicaId: 'r',
    flushNo: 2,
    runs: [],
    errors: [seen('f1', { seen: 3, lastRunId: '9', tasks: ['b', 'a'], version: '2' })],
  })
  const [group] = await groups()
  expect(group).toMatchObject({
    seen: '5',
    last_run_id: '9',
    tasks: ['b', 'a'],
    versions: ['2', '1'],
    muted_until: null,
  })
  expect(group!.last_seen.getTime() - group!.first_seen.getTime()).toBeGreaterThan(86_000_000)
  const { rows } = await sql<{ seen: number }>`SELECT sum(seen)::int AS seen FROM q.error_tally`.execute(db)
  expect(rows).toEqual([{ seen: 5 }])
})

test('a group is dated by its first and last attempt, not by the flushes that follow them', async () => {
  const ends: Date[] = []
  const fail = async (agoMs: number) => {
    await enqueue('dated')
    const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no', fingerprint: 'f-dated' } as const
    const run = await claimOne('dated')
    await store.settleTaskRuns([{ lease: leaseOf(run), outcome, by }])
    const { rows } = await sql<{ at: Date }>`
      UPDATE q.task_attempt SET ended_at = ended_at - ${agoMs} * interval '1 ms' WHERE run_id = ${run.runId}
      RETURNING ended_at AS at`.execute(db)
    ends.push(rows[0]!.at)
  }
  const flush = (flushNo: number) =>
    store.flushTally({ replicaId: 'r', flushNo, runs: [], errors: [seen('f-dated', { seen: 2 })] })
  await fail(600_000)
  await fail(590_000)
  await flush(1)
  expect(await groups()).toMatchObject([{ first_seen: ends[0], last_seen: ends[1], seen: '2' }])
  await fail(60_000)
  await flush(2)
  expect(await groups()).toMatchObject([{ first_seen: ends[0], last_seen: ends[2], seen: '4' }])
})

test('the size of a flush and of a group is bounded', async () => {
  const many = Array.from({ length: 130 }, (_, place) => seen(`f${place}`, { seen: place + 1 }))
  await store.flushTally({ replicaId: 'r', flushNo: 1, runs: [], errors: many })
  expect(await groups()).toHaveLength(100)
  const names = Array.from({ length: 50 }, (_, place) => `t${place}`)
  await store.flushTally({
    replicaId: 'r',
    flushNo: 2,
    runs: [],
    errors: [seen('f129', { tasks: names, message: 'x'.repeat(5_000) })],
  })
  const [group] = await db.selectFrom('q.error_group').selectAll().where('fingerprint', '=', 'f129').execute()
  expect(group!.tasks).toHaveLength(20)
  expect(group!.message).toHaveLength(300)
})

test('a text that is cut within a character is stored', async () => {
  const long = `${'x'.repeat(299)}😀`
  const error = seen('f1', { name: long, message: long, place: long })
  await store.flushTally({ replicaId: 'r', flushNo: 1, runs: [], errors: [error] })
  const cut = `${'x'.repeat(299)}\uFFFD`
  expect(await groups()).toMatchObject([{ name: cut, message: cut, place: cut }])
})

test('a muted group is muted for a time, and counted as before', async () => {
  await store.flushTally({ replicaId: 'r', flushNo: 1, runs: [], errors: [seen('f1')] })
  expect(await store.muteErrorGroup('f1', { untilMs: 60_000, by: 'ada' })).toBe('muted')
  await store.flushTally({ replicaId: 'r', flushNo: 2, runs: [], errors: [seen('f1')] })
  const [muted] = await groups()
  expect(muted).toMatchObject({ muted_by: 'ada', seen: '2' })
  expect(muted!.muted_until!.getTime()).toBeGreaterThan(muted!.last_seen.getTime())
  expect(await store.muteErrorGroup('f1', null)).toBe('unmuted')
  expect(await groups()).toMatchObject([{ muted_by: null, muted_until: null }])
  expect(await store.muteErrorGroup('unknown', null)).toBe('not-found')
})

test('an attempt keeps the fingerprint that its replica computed, even if the run is retried', async () => {
  await enqueue('computed', { maxAttempts: 2 })
  const run = await claimOne('computed')
  const outcome = {
    status: 'FAILED',
    code: 'TASK_ERROR',
    detail: 'no',
    fingerprint: 'abc',
    retry: { delayMs: 1 },
  } as const
  expect(await store.settleTaskRuns([{ lease: leaseOf(run), outcome, by }])).toEqual(['retried'])
  expect(await attemptOf('computed')).toMatchObject({ outcome: 'retried', code: 'TASK_ERROR', fingerprint: 'abc' })
})

test('without a fingerprint of the replica, code and task are the fingerprint, computed equally in the database and in a replica', async () => {
  await enqueue('by-code')
  const run = await claimOne('by-code')
  await store.settleTaskRuns([
    { lease: leaseOf(run), outcome: { status: 'FAILED', code: 'TIMEOUT', detail: 'late' }, by },
  ])
  expect(await attemptOf('by-code')).toMatchObject({
    code: 'TIMEOUT',
    fingerprint: fingerprintOf(['TIMEOUT', 'by-code']),
  })
})

test('an attempt that ended without an error has no fingerprint', async () => {
  await enqueue('released')
  const run = await claimOne('released')
  await store.releaseTaskRuns([leaseOf(run)], by)
  expect(await attemptOf('released')).toMatchObject({ outcome: 'released', fingerprint: null })
})
