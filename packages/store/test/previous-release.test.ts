/** The statements of the previous release have the same effect in the present schema. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { fixture } from './fixture.ts'
import { asPrevious, previousStatements, registeredByPrevious } from './previous-release.ts'

const { db, store } = await fixture()
const replicaId = 'previous'

interface Claimed {
  readonly runId: RunId
  readonly fence: number
}

const as = <Row>(name: string, ...values: readonly unknown[]) => asPrevious<Row>(db, name, values)

/** Runs that the previous release enqueues, one for each of `options`. */
async function enqueued(task: string, ...options: object[]): Promise<RunId[]> {
  const lane = await store.internLane({ queue: 'default', task })
  const runs = options.map((more, place) => ({ place, task, lane, payload: { n: place }, ...more }))
  const [answer] = await as<{ ids: string }>('runs.enqueue', JSON.stringify(runs))
  return answer!.ids.split(',') as RunId[]
}

async function claimed(task: string, statement = 'runs.claim', count = 9): Promise<Claimed[]> {
  const heads = await as<{ lane: number; priority: number; group: string }>('runs.ready-heads', [task], [], [], [])
  return as<Claimed>(
    statement,
    heads.map(({ lane }) => lane),
    heads.map(({ priority }) => priority),
    heads.map(({ group }) => group),
    heads.map(() => count),
    replicaId,
  )
}

/** As the previous release ends runs that it holds. */
function leave(runs: readonly Claimed[], goal: string, { result = null as string | null, returnAttempt = false } = {}) {
  const each = <T>(value: T) => runs.map(() => value)
  return as<{ id: string }>(
    'runs.leave',
    runs.map(({ runId }) => runId),
    runs.map(({ fence }) => fence),
    ...[goal, result, 0, null, 'fail', returnAttempt, false, 'host', 1, 0].map(each),
    3,
    ['CLAIMED', 'RUNNING'],
    false,
  )
}

async function statusOf(id: RunId): Promise<string> {
  return (await store.getTaskRuns([id]))[0]!.status
}

test.each([...previousStatements])('the present schema has everything that %s names', async (name, text) => {
  const prepared = sql.id(`previous ${name}`)
  const preparing = db.connection().execute(async (connection) => {
    await sql`PREPARE ${prepared} AS ${sql.raw(text)}`.execute(connection)
    await sql`DEALLOCATE ${prepared}`.execute(connection)
  })
  await expect(preparing).resolves.toBeUndefined()
})

test('a run that the previous release enqueues, claims, sends heartbeats for and finishes has succeeded', async () => {
  await registeredByPrevious(db, replicaId)
  const [id] = await enqueued('whole-life', { max_attempts: 2 })
  const [run] = await claimed('whole-life')
  expect(run).toMatchObject({ runId: id, task: 'whole-life', attempt: 1, payload: '{"n": 0}' })
  const beat = [[run!.runId], [run!.fence], ['previous/1'], [0], [0.5], ['half']]
  expect(await as('heartbeats.beat-runs', ...beat, 'host', 1, replicaId)).toMatchObject([{ answer: 'alive' }])
  expect(await as('runs.finish', [run!.runId], [run!.fence], ['"done"'])).toMatchObject([{ runId: id }])
  expect(await store.getTaskRuns([run!.runId])).toMatchObject([{ status: 'SUCCEEDED', result: 'done' }])
})

test('the end of a run that the previous release writes is reported once, with everything that this release reports', async () => {
  await store.putDestination({ name: 'hook', kind: 'log', reports: ['run-ended'] })
  const [id] = await enqueued('reported', {})
  const [run] = await claimed('reported')
  await as('runs.finish', [run!.runId], [run!.fence], ['"done"'])
  const rows = await db.selectFrom('q.delivery').select(['order_key', 'payload']).execute()
  expect(rows).toMatchObject([
    { order_key: `run/${id}`, payload: { runId: id, queue: 'default', status: 'SUCCEEDED', code: null } },
  ])
  await store.removeDestination('hook')
})

test('runs that the previous release claims ahead can be started, fail, be released and crash', async () => {
  const ids = await enqueued('ahead', {}, {}, {})
  const runs = await claimed('ahead', 'runs.claim-ahead')
  expect(runs).toHaveLength(3)
  const leases = [runs.map(({ runId }) => runId), runs.map(({ fence }) => fence)]
  expect(await as('runs.start', ...leases)).toHaveLength(3)
  await leave(runs.slice(0, 1), 'FAILED', { result: '{"code":"TASK_ERROR","detail":"d"}' })
  await leave(runs.slice(1, 2), 'AVAILABLE', { returnAttempt: true })
  await leave(runs.slice(2), 'CRASH', { result: '{"code":"WORKER_CRASHED","detail":"d"}' })
  expect(await Promise.all(ids.map(statusOf))).toEqual(['FAILED', 'AVAILABLE', 'FAILED'])
})

test('a concurrency key that the previous release uses is handed from run to run', async () => {
  const key = { concurrency_scope: 'keyed', concurrency_key: 'keyed/k', waiting_for: 'concurrency' }
  const ids = await enqueued('keyed', key, key)
  await as('runs.promote-keys', ['keyed/k'], 100)
  const [first] = await claimed('keyed')
  expect(await claimed('keyed')).toEqual([])
  await leave([first!], 'SUCCEEDED', { result: '1' })
  expect(await claimed('keyed')).toMatchObject([{ runId: ids.find((id) => id !== first!.runId) }])
})

test('the previous release learns from its beat that it is to drain, and can leave', async () => {
  await registeredByPrevious(db, 'leaving')
  const stats = ['healthy', 0, 0, 0, 1, 0, 0, 0, '[]']
  const beat = () =>
    as<{ known: boolean; drained: boolean }>(
      'heartbeats.beat-replica',
      'leaving',
      ...stats,
      false,
      'leaving',
      'leaving',
    )
  expect(await beat()).toMatchObject([{ known: true, drained: false }])
  await store.drainReplica('leaving', { by: 'ada' })
  expect(await beat()).toMatchObject([{ known: true, drained: true, by: 'ada', deadlineInMs: null }])
  expect(await store.undrainReplica('leaving')).toBe('leaving')
})
