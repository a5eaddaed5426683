import { sql } from 'kysely'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { enqueueTaskRuns, type RunId } from '@q/store'
import { debounceFixture, hour } from './debounce-fixture.ts'

const { store, db, another, row, lane, run, enqueueOne, runsOf } = await debounceFixture()

/** As if everything had happened so much earlier. */
async function age(id: RunId, ms: number): Promise<void> {
  await sql`UPDATE q.task_run SET created_at = created_at - ${ms} * interval '1 ms', run_at = run_at - ${ms} * interval '1 ms'
    WHERE id = ${id}`.execute(db)
}

/** How long it still waits, and since when: by the clock of the database. */
async function times(id: RunId): Promise<{ waits: number; old: number }> {
  const { rows } = await sql<{ waits: number; old: number }>`
    SELECT extract(epoch FROM run_at - clock_timestamp())::float8 * 1000 AS waits,
      extract(epoch FROM clock_timestamp() - created_at)::float8 * 1000 AS old FROM q.task_run WHERE id = ${id}`.execute(
    db,
  )
  return rows[0]!
}

test('the last enqueue in the window counts: one run, the last payload, and the window starts again', async () => {
  const first = await enqueueOne(run('last', 1))
  expect(first).toMatchObject({ status: 'PENDING', duplicate: false })
  await age(first.id, 0.75 * hour)
  expect(await enqueueOne(run('last', 2))).toEqual({ ...first, duplicate: true })
  expect((await row(first.id)).payload).toEqual({ n: 2 })
  expect((await times(first.id)).waits).toBeGreaterThan(0.5 * hour)
})

test('all options of the last enqueue count, not only its payload', async () => {
  const { id } = await enqueueOne(
    run('whole', 1, { priority: 1, concurrency: { scope: 's', key: 'a' }, expiresInMs: 1 }),
  )
  const other = await store.internLane({ queue: 'other', task: 'debounced' })
  await enqueueOne(run('whole', 2, { lane: other, priority: 5, group: 'g', maxAttempts: 3, timeoutMs: 9 }))
  expect(await row(id)).toMatchObject({
    lane: other,
    priority: 5,
    grp: 'g',
    max_attempts: 3,
    timeout_ms: 9,
    concurrency_key: null,
    expires_at: null,
  })
})

test('a run that is due no longer changes, and a later enqueue inserts a new run', async () => {
  const first = await enqueueOne(run('due', 1))
  await age(first.id, hour)
  const second = await enqueueOne(run('due', 2))
  expect(second).toMatchObject({ duplicate: false })
  expect((await row(first.id)).payload).toEqual({ n: 1 })
  expect(await enqueueOne(run('due', 3))).toMatchObject({ id: second.id, duplicate: true })
})

test('a run that has begun is not changed, even while it waits for its next attempt', async () => {
  const first = await enqueueOne(run('begun', 1, { maxAttempts: 2 }))
  await age(first.id, hour)
  await store.promoteDueTaskRuns(100)
  const claimed = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['debounced'], queues: [], limit: 100 })
  const mine = claimed.find(({ runId }) => runId === first.id)!
  const outcome = {
    status: 'FAILED',
    code: 'TASK_ERROR',
    detail: 'no',
    retry: { delayMs: 5 * hour, delayMsMax: 5 * hour },
  } as const
  await store.settleTaskRuns([{ lease: mine, outcome, by: { hostname: 'h', pid: 1, thread: 0 } }])
  expect(await row(first.id)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
  const second = await enqueueOne(run('begun', 2))
  expect(second).toMatchObject({ duplicate: false })
  expect((await row(first.id)).payload).toEqual({ n: 1 })
})

test('after a waiting run is cancelled, the next enqueue inserts a new run', async () => {
  const first = await enqueueOne(run('cancelled', 1))
  await store.cancelTaskRuns([first.id])
  expect(await enqueueOne(run('cancelled', 2))).toMatchObject({ duplicate: false })
})

test('a steady stream of enqueues cannot delay the run beyond its bound', async () => {
  const first = await enqueueOne(run('steady', 0))
  for (let n = 1; n <= 30 && (await times(first.id)).old < 10 * hour; n++) {
    await age(first.id, 0.5 * hour)
    const { waits, old } = await times(first.id)
    expect(waits + old).toBeLessThanOrEqual(10 * hour + 1)
    await enqueueOne(run('steady', n))
  }
  expect((await enqueueOne(run('steady', 99))).id).not.toBe(first.id)
})

test('in a batch the last of several runs with one key counts', async () => {
  const answers = await store.enqueueTaskRuns([
    run('x', 1),
    run('y', 1),
    run('x', 2),
    { task: 'debounced', lane, payload: {} },
  ])
  expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, false, true, false])
  expect(answers[2]!.id).toBe(answers[0]!.id)
  expect((await row(answers[0]!.id)).payload).toEqual({ n: 2 })
  expect(answers[3]).toMatchObject({ status: 'AVAILABLE' })
})

test('for any order of events, each window has one run with the last payload', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('enqueue' as const) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 5 }).map((quarters) => quarters * 0.25 * hour) },
    { weight: 1, arbitrary: fc.constant('promote' as const) },
    { weight: 1, arbitrary: fc.constant('cancel' as const) },
  )
  let plays = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      const key = `play ${plays++}`
      const windowMs = { forMs: hour, maxMs: 2 * hour }
      const model: { n: number; born: number; due: number; open: boolean }[] = []
      let now = 0
      for (const [n, what] of steps.entries()) {
        const last = model.at(-1)
        if (what === 'enqueue') {
          await enqueueOne(run(key, n, { trace: key, debounce: { key, ...windowMs } }))
          if (last?.open === true && last.due > now)
            Object.assign(last, { n, due: Math.min(now + hour, last.born + 2 * hour) })
          else model.push({ n, born: now, due: now + hour, open: true })
        } else if (what === 'promote') {
          await store.promoteDueTaskRuns(10_000)
          for (const one of model) one.open &&= one.due > now
        } else if (what === 'cancel') {
          const ids = (await runsOf(key)).map(({ id }) => id)
          await store.cancelTaskRuns(ids.slice(-1))
          if (last !== undefined) last.open = false
        } else {
          // A little more, so that no two things fall on one moment.
          now += what + 1_000
          for (const { id } of await runsOf(key)) await age(id, what + 1_000)
        }
        expect((await runsOf(key)).map(({ payload }) => payload.n)).toEqual(model.map((one) => one.n))
      }
    }),
    { numRuns: 40 },
  )
})

test('the record of a key is removed with its run', async () => {
  const { id } = await enqueueOne(run('pruned', 1))
  await store.cancelTaskRuns([id])
  await store.pruneTaskRuns({ keepMs: -1_000, limit: 100_000 })
  expect(await db.selectFrom('q.debounce').selectAll().where('run_id', '=', id).execute()).toEqual([])
  expect(await enqueueOne(run('pruned', 2))).toMatchObject({ duplicate: false })
})

test('pruning does not wait for a transaction that has locked the keys of old runs, and keeps those keys', async () => {
  const before = await enqueueOne(run('taken over', 1))
  await store.cancelTaskRuns([before.id])
  const after = await db.transaction().execute(async (trx) => {
    const [next] = await enqueueTaskRuns(trx, [run('taken over', 2)])
    await another().pruneTaskRuns({ keepMs: -1_000, limit: 100_000 })
    return next!
  })
  expect(await store.getTaskRuns([before.id])).toEqual([])
  expect(await enqueueOne(run('taken over', 3))).toMatchObject({ id: after.id, duplicate: true })
})
