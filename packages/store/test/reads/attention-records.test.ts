/** Attention items about recorded events: failed heartbeats, refused writes, schedules, errors. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import type { Lease } from '@q/store'
import { attentionFixture } from './attention-fixture.ts'

const { store, db, enqueue, claimOne, fleet, all, only } = await attentionFixture()

test('three heartbeats in a row that could not be sent, within ten minutes, are named with the error', async () => {
  await fleet.join('n1')
  const failed = (inARow: number, agoS: number) =>
    sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error)
      VALUES ('n1', clock_timestamp() - ${agoS}::int * interval '1 s', ${inARow}, 'ECONNRESET')`.execute(db)
  await failed(2, 10)
  await failed(9, 700)
  expect(await all()).toEqual([])
  await failed(3, 5)
  expect(await only('heartbeats-fail')).toMatchObject({ subject: 'n1', detail: 'ECONNRESET', facts: { inARow: 3 } })
})

test('refused writes, recoveries to review and failed deliveries are counted', async () => {
  await fleet.join('n1')
  const [run] = await enqueue('a', { delayMs: 60_000 })
  await sql`INSERT INTO q.task_event (run_id, fence, kind, happened_at, replica_id)
    VALUES (${run}, 1, 'refused-settle', now(), 'n1'), (${run}, 1, 'refused-log', now() - interval '2 hours', 'n1')`.execute(
    db,
  )
  expect(await only('refused-writes')).toMatchObject({ facts: { count: 1, runId: run }, command: `q show ${run}` })
  await sql`DELETE FROM q.task_event`.execute(db)
  await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by)
    VALUES (${run}, 1, 'RUNNING', 'FAILED', 'presence', 'n0', 'n1')`.execute(db)
  expect(await only('to-review')).toMatchObject({ subject: 'a', command: 'q review', page: '/recoveries' })
  await sql`DELETE FROM q.recovery`.execute(db)
  await sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at, last_error) VALUES ('hook', 'status', 's', '{}', NULL, 'HTTP 500')`.execute(
    db,
  )
  expect(await only('deliveries-given-up')).toMatchObject({ subject: 'hook', detail: 'HTTP 500' })
})

test('the last refused write says why its claim had lost the run: recovered, ended, or released', async () => {
  await fleet.join('n1')
  const claimed = async (replicaId = 'n1'): Promise<Lease> => {
    await enqueue('a')
    const { runId, fence } = await claimOne('a', replicaId)
    return { runId, fence }
  }
  const refuse = async (lease: Lease): Promise<string | null> => {
    await sql`DELETE FROM q.task_event`.execute(db)
    await store.appendTaskLogs([{ lease, lineNo: 1, ageMs: 0, level: 30, line: 'late' }])
    return (await all()).find(({ kind }) => kind === 'refused-writes')?.detail ?? null
  }
  const lost = await claimed('never-alive')
  await store.reap({ by: 'n1' })
  expect(await refuse(lost)).toMatch(
    /^The last was a log line of run \d+\. The code continued after its run had been recovered\.$/,
  )

  const released = await claimed()
  await store.releaseTaskRuns([released])
  await claimOne('a')
  expect(await refuse(released)).toMatch(/The run had already been released or claimed again\.$/)

  const ended = await claimed()
  const by = { hostname: 'h', pid: 1, thread: 1 }
  const outcome = { status: 'SUCCEEDED', result: '1' } as const
  await store.settleTaskRuns([{ lease: ended, outcome, by }])
  await sql`DELETE FROM q.task_event`.execute(db)
  await expect(store.checkpointTaskRun(ended, '1')).resolves.toBe('lease-lost')
  const [item] = (await all()).filter(({ kind }) => kind === 'refused-writes')
  expect(item?.detail).toMatch(/^The last was a checkpoint of run \d+\. The run had already ended\.$/)
})

test('a schedule is named when it is late, or when the run of its last tick failed', async () => {
  await fleet.join('n1')
  await sql`INSERT INTO q.schedule (name, task, cron, next_tick) VALUES ('nightly', 'a', '0 0 * * *', now() + interval '1 hour')`.execute(
    db,
  )
  expect(await all()).toEqual([])
  await sql`UPDATE q.schedule SET next_tick = now() - interval '10 minutes'`.execute(db)
  expect(await only('schedule-late')).toMatchObject({ level: 'warn', sentence: 'The schedule nightly is 10 min late.' })
  await sql`UPDATE q.schedule SET paused_at = now()`.execute(db)
  expect(await all()).toEqual([])
  const [run] = await enqueue('a', { delayMs: 60_000 })
  await db.transaction().execute(async (trx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(trx)
    await sql`UPDATE q.task_run SET status = 'FAILED', waiting_for = NULL, finished_at = now(), result = '{"code":"TASK_ERROR"}' WHERE id = ${run}`.execute(
      trx,
    )
  })
  await sql`UPDATE q.schedule SET paused_at = NULL, next_tick = now() + interval '1 hour'`.execute(db)
  await sql`INSERT INTO q.schedule_tick VALUES ('nightly', now(), ${run})`.execute(db)
  expect(await only('schedule-late')).toMatchObject({ level: 'note', command: `q show ${run}` })
})

test('an error is rising when it was seen much more often than in the day before; not while it is muted', async () => {
  await fleet.join('n1')
  await sql`INSERT INTO q.error_group (fingerprint, first_seen, last_seen, seen, last_run_id, code, name, message, tasks, versions)
    VALUES ('0123456789abcdef', now(), now(), 1, 1, 'TASK_ERROR', 'Error', 'ECONNRESET', '{resize}', '{}')`.execute(db)
  const seen = (hoursAgo: number, count: number) =>
    sql`
    INSERT INTO q.error_tally VALUES ('0123456789abcdef', date_trunc('hour', clock_timestamp()) - ${hoursAgo}::int * interval '1 hour', ${count})`.execute(
      db,
    )
  await seen(0, 4)
  expect(await all()).toEqual([])
  await seen(1, 4)
  expect(await only('errors-rise')).toMatchObject({
    subject: 'resize',
    sentence: 'resize failed 8 times within two hours: Error: ECONNRESET.',
    command: 'q errors 01234567',
    page: '/errors/0123456789abcdef',
  })
  await seen(5, 100)
  expect(await all()).toEqual([])
  await sql`DELETE FROM q.error_tally WHERE seen = 100`.execute(db)
  await sql`UPDATE q.error_group SET muted_until = now() + interval '1 hour'`.execute(db)
  expect(await all()).toEqual([])
})
