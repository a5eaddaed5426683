import { expect, test } from 'vitest'
import { sql } from 'kysely'
import type { RunId } from '@q/store'
import { by, fixture, leaseOf } from '../fixture.ts'
import { introduction } from '../replica-registration.ts'

const { store, db, enqueue, claimOne } = await fixture()

async function origin(runId: RunId, originId: RunId, kind: 'again' | 'child'): Promise<void> {
  await sql`INSERT INTO q.run_origin VALUES (${runId}, ${originId}, ${kind})`.execute(db)
}

test('payload, result and checkpoint are exact as text: numbers above 2^53 keep their digits', async () => {
  const [id] = await enqueue('exact')
  await sql`UPDATE q.task_run SET payload = '{"id": 9007199254740993}', checkpoint = '[1.10]' WHERE id = ${id}`.execute(
    db,
  )
  await claimOne('exact')
  const detail = await store.getTaskRun(id!)
  expect(detail).toMatchObject({ payloadText: '{"id": 9007199254740993}', resultText: null, checkpointText: '[1.10]' })
  expect(JSON.stringify(detail!.run.payload)).not.toContain('9007199254740993')
})

test('a run names its parent, its children, the run it repeats, the runs that repeat it, and its tick', async () => {
  const [parent, run, child, again] = await enqueue('linked', { count: 4 })
  await origin(run!, parent!, 'child')
  await origin(child!, run!, 'child')
  await origin(again!, run!, 'again')
  await sql`INSERT INTO q.schedule_tick VALUES ('nightly', '2026-01-01T00:00:00Z', ${run})`.execute(db)
  expect(await store.getTaskRun(run!)).toMatchObject({
    parent: { runId: parent, task: 'linked', status: 'AVAILABLE' },
    children: [{ runId: child, task: 'linked', status: 'AVAILABLE' }],
    again: { of: null, runs: [again] },
    scheduleTick: { schedule: 'nightly', tick: new Date('2026-01-01T00:00:00Z') },
  })
  expect(await store.getTaskRun(again!)).toMatchObject({ again: { of: run, runs: [] }, parent: null, children: [] })
  await db.deleteFrom('q.task_run').where('id', '=', parent!).execute()
  expect((await store.getTaskRun(run!))!.parent).toBeNull()
})

test('a run shows why it waits, and how long it waited and ran', async () => {
  const [id] = await enqueue('waits')
  await sql`UPDATE q.task_run SET run_at = clock_timestamp() - interval '10 minutes', created_at = run_at - interval '10 minutes' WHERE id = ${id}`.execute(
    db,
  )
  const waiting = (await store.getTaskRun(id!))!
  expect(waiting.why!.reasons[0]).toMatchObject({ reason: 'no-replica' })
  expect(waiting.waitMs).toBeGreaterThanOrEqual(600_000)
  expect(waiting.durationMs).toBeNull()
  await store.registerReplica(introduction('n1', 'eu-1'))
  const lease = leaseOf(await claimOne('waits', 'n1'))
  await sql`UPDATE q.task_run SET started_at = clock_timestamp() - interval '1 minute' WHERE id = ${id}`.execute(db)
  const running = (await store.getTaskRun(id!))!
  expect(running).toMatchObject({ why: null, replicaName: 'eu-1' })
  expect(running.waitMs).toBeCloseTo(540_000, -4)
  expect(running.durationMs).toBeGreaterThanOrEqual(60_000)
  await store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect((await store.getTaskRun(id!))!.durationMs).toBeGreaterThanOrEqual(60_000)
})

test('the time that a run waited begins with the end of the attempt before', async () => {
  const [id] = await enqueue('crashes', { onCrash: 'retry' })
  const detail = async () => (await store.getTaskRun(id!))!
  const shift = sql`UPDATE q.task_run SET created_at = created_at - interval '1 hour', run_at = run_at - interval '1 hour' WHERE id = ${id}`
  await shift.execute(db)
  const crashed = leaseOf(await claimOne('crashes', 'n1'))
  await store.releaseTaskRuns([crashed], by)
  expect((await detail()).waitMs).toBeLessThan(600_000)
  await claimOne('crashes', 'n1')
  expect((await detail()).waitMs).toBeLessThan(600_000)
})

test('the time that a recovered run waited begins with the end of the lost attempt', async () => {
  const [id] = await enqueue('recovered', { onCrash: 'retry' })
  const minutesAgo = (minutes: number) => sql`clock_timestamp() - make_interval(mins => ${minutes}::int)`
  await claimOne('recovered', 'dead')
  await store.reap({ by: 'n1' })
  await sql`UPDATE q.task_run SET run_at = ${minutesAgo(20)}, created_at = ${minutesAgo(20)} WHERE id = ${id}`.execute(
    db,
  )
  await sql`UPDATE q.task_attempt SET ended_at = ${minutesAgo(2)} WHERE run_id = ${id}`.execute(db)
  const again = (await store.getTaskRun(id!))!
  expect(again.waitMs).toBeCloseTo(120_000, -4)
})

test('ticks of runs have only state, progress, and the age of the last sign of life of held runs', async () => {
  const [held, ready] = await enqueue('ticking', { count: 2 })
  const claimed = await claimOne('ticking', 'n1')
  await sql`UPDATE q.task_run SET started_at = clock_timestamp() - interval '1 minute', claimed_at = NULL WHERE id = ${held}`.execute(
    db,
  )
  const tick = async (id: RunId) => (await store.runTicks([id]))[0]!
  expect((await tick(held!)).beatAgeMs).toBeGreaterThanOrEqual(60_000)
  const sender = { replicaId: 'n1', hostname: 'host', pid: 1 }
  await store.beatTaskRuns(sender, [{ lease: leaseOf(claimed), thread: 0, ageMs: 0, progress: 0.5, note: 'half' }])
  expect(await tick(held!)).toMatchObject({
    id: held,
    status: 'RUNNING',
    attempt: 1,
    fence: 1,
    progress: 0.5,
    note: 'half',
  })
  expect((await tick(held!)).beatAgeMs).toBeLessThan(60_000)
  expect(await tick(ready!)).toMatchObject({ status: 'AVAILABLE', beatAgeMs: null, progress: null })
  expect(await store.runTicks([])).toEqual([])
  expect(await store.runTicks(['999999999' as RunId])).toEqual([])
})
