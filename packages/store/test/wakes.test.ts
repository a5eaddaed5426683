import { expect, test } from 'vitest'
import { listen, type EndedWake, type RunId, type Wake } from '@q/store'
import { sql } from 'kysely'
import { by, fixture, leaseOf } from './fixture.ts'

const { url, store, enqueue, claim, claimOne, db } = await fixture()

async function listening(channel: Parameters<typeof listen>[1]) {
  const wakes: Wake[] = []
  const lost = Promise.withResolvers<Error | undefined>()
  let arrived = Promise.withResolvers<void>()
  const listener = await listen(url, channel, {
    onWake(wake) {
      wakes.push(wake)
      arrived.resolve()
      arrived = Promise.withResolvers()
    },
    onLost: lost.resolve,
  })
  return { wakes, lost: lost.promise, next: () => arrived.promise, listener }
}

test('a wake of a queue reaches its listeners', async () => {
  const { wakes, next, listener } = await listening('q_available')
  const woken = next()
  await store.wakeQueue('cpu')
  await woken
  expect(wakes).toEqual([{ channel: 'q_available', queue: 'cpu', requires: [] }])
  listener.close()
})

test('a notification of another program that cannot be read is ignored, and the next wake arrives', async () => {
  const { wakes, next, listener } = await listening('q_available')
  const woken = next()
  for (const payload of ['', 'text', 'null', '5', '{"queue":5}', '[]'])
    await sql`SELECT pg_notify('q_available', ${payload})`.execute(db)
  await sql`SELECT pg_notify('q_available', '{"queue":"cpu","requires":5}')`.execute(db)
  await woken
  expect(wakes).toEqual([{ channel: 'q_available', queue: 'cpu', requires: [] }])
  listener.close()
})

test('the end of a run sends a wake only if a caller awaits it, once for a batch', async () => {
  await enqueue('awaited', { count: 3 })
  const runs = [await claimOne('awaited'), await claimOne('awaited'), await claimOne('awaited')]
  await store.awaitTaskRuns([runs[0]!.runId, runs[2]!.runId])
  const { wakes, next, listener } = await listening('q_outcome')
  const woken = next()
  await store.settleTaskRuns(
    runs.map((run) => ({ lease: leaseOf(run), outcome: { status: 'SUCCEEDED', result: '1' }, by })),
  )
  await woken
  await sql`SELECT 1`.execute(db)
  expect(wakes).toHaveLength(1)
  const { runs: ended } = wakes[0] as EndedWake
  expect(ended.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
    { id: runs[0]!.runId, status: 'SUCCEEDED' },
    { id: runs[2]!.runId, status: 'SUCCEEDED' },
  ])
  listener.close()
})

test('the ends of more runs than one notification can name are announced in several, by one statement', async () => {
  const ids = await enqueue('many', { count: 2_000 })
  const runs = await claim('many', 2_000)
  await store.awaitTaskRuns(ids)
  const { wakes, next, listener } = await listening('q_outcome')
  const settled = await store.settleTaskRuns(
    runs.map((run) => ({ lease: leaseOf(run), outcome: { status: 'SUCCEEDED', result: '1' }, by })),
  )
  expect(settled).toHaveLength(2_000)
  while (wakes.length < 9) await next()
  expect(wakes).toHaveLength(9)
  const announced = wakes.flatMap((wake) => (wake as EndedWake).runs.map(({ id }) => id))
  expect(new Set(announced)).toEqual(new Set(ids))
  expect(announced).toHaveLength(2_000)
  listener.close()
})

test('programs of earlier releases receive ends on their own channel, until none of them is admitted', async () => {
  const { rows } = await sql<{ level: number }>`SELECT oldest_program AS level FROM q.compatibility`.execute(db)
  const [compatible] = rows
  expect(compatible!.level).toBeLessThan(16)
  const { wakes, listener } = await listening(['q_outcome', 'q_ended', 'q_available'])
  const wakesOfEnd = async () => {
    const from = wakes.length
    await enqueue('heard')
    const run = await claimOne('heard')
    await store.awaitTaskRuns([run.runId])
    await store.settleTaskRuns([{ lease: leaseOf(run), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
    // Notifications arrive in the order of their commits.
    await store.wakeQueue('q_ended')
    await expect.poll(() => wakes.some((wake, at) => at >= from && wake.channel === 'q_available')).toBe(true)
    return { runId: run.runId, sent: wakes.slice(from).filter(({ channel }) => channel !== 'q_available') }
  }
  const before = await wakesOfEnd()
  expect(before.sent).toEqual([
    { channel: 'q_outcome', runs: [{ id: before.runId, status: 'SUCCEEDED' }], workflows: [] },
    { channel: 'q_ended', runs: [{ id: before.runId, status: undefined }], workflows: [] },
  ])
  await sql`UPDATE q.compatibility SET oldest_program = 16`.execute(db)
  const after = await wakesOfEnd()
  await sql`UPDATE q.compatibility SET oldest_program = ${compatible!.level}`.execute(db)
  expect(after.sent).toMatchObject([{ channel: 'q_outcome', runs: [{ id: after.runId }] }])
  listener.close()
})

test('a listener reports once that the server has ended its session', async () => {
  const { lost } = await listening('q_ready')
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'q listen' AND datname = current_database()`.execute(
    db,
  )
  expect(await lost).toBeInstanceOf(Error)
})

test('a caller may wait for any number of runs', async () => {
  const ids = Array.from({ length: 70_000 }, (_, index) => String(1_000_000 + index) as RunId)
  await store.awaitTaskRuns(ids)
  const { rows } = await sql<{ awaited: number }>`SELECT count(*)::int AS awaited FROM q.awaited
    WHERE run_id >= 1000000`.execute(db)
  expect(rows).toEqual([{ awaited: ids.length }])
})
