/** Finish, start and claim in one round trip, on real connections, with everything that can get in its way. */
import { afterAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { Client } from 'pg'
import {
  connect,
  createClaimer,
  exchangeWork,
  type ClaimedRun,
  type Connection,
  type Finish,
  type WorkExchange,
} from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'
import { wholeExchange } from './whole-exchange.ts'

const { store, enqueue, row, url, db } = await fixture()
const connections: Connection[] = []
afterAll(() => Promise.all(connections.map((connection) => connection.close())))

const nothing: WorkExchange = { finishes: [], starts: [], claim: 0, prefetch: 0 }

function replica(task: string, options: { prepare?: boolean } = {}) {
  const connection = connect(url, { purpose: 'exchange', ...options })
  connections.push(connection)
  const claimer = createClaimer({ replicaId: `of-${task}`, tasks: [task], queues: [] })
  return {
    connection,
    claimer,
    take: (exchange: Partial<WorkExchange>) => wholeExchange(connection, claimer, { ...nothing, ...exchange }),
  }
}

function finishOf(run: ClaimedRun, result = '1'): Finish {
  return { lease: leaseOf(run), result, by }
}

test.each([{ prepare: true }, { prepare: false }])(
  'finish, start and claim are one round trip (%o)',
  async (options) => {
    const task = `whole-${options.prepare}`
    await enqueue(task, { count: 5 })
    const { take } = replica(task, options)
    const first = await take({ claim: 1, prefetch: 1 })
    expect([first.claimed, first.prefetched].map((runs) => runs.length)).toEqual([1, 1])
    const [running, held] = [first.claimed[0]!, first.prefetched[0]!]
    const second = await take({ finishes: [finishOf(running, '"done"')], starts: [held], claim: 2 })
    expect(second).toMatchObject({ finished: [leaseOf(running)], started: [held.runId] })
    expect(second.claimed).toHaveLength(2)
    expect(await row(running.runId)).toMatchObject({ status: 'SUCCEEDED', result: 'done' })
    expect(await row(held.runId)).toMatchObject({ status: 'RUNNING', attempt: 1 })
  },
)

test('an empty exchange sends nothing', async () => {
  expect(await replica('nothing').take({})).toEqual({
    finished: [],
    started: [],
    busy: [],
    claimed: [],
    prefetched: [],
    lookedOnly: false,
    more: false,
  })
})

test('a claim sees the slot that a finish of the same exchange freed, through the promotion that follows', async () => {
  await enqueue('keyed', { count: 2, concurrency: { scope: 'keyed', key: 'k' } })
  const { take, claimer } = replica('keyed')
  const [holder] = (await take({ claim: 5 })).claimed
  expect(holder?.gated).toBe(true)
  // A run with a key goes the long way: it is not settled here.
  expect(await take({ finishes: [finishOf(holder!)] })).toMatchObject({ finished: [] })
  expect(await row(holder!.runId)).toMatchObject({ status: 'RUNNING' })
  const settlement = { lease: leaseOf(holder!), outcome: { status: 'SUCCEEDED', result: '1' }, by } as const
  expect(await store.settleTaskRuns([settlement])).toEqual(['settled'])
  claimer.runsReady()
  expect((await take({ claim: 5 })).claimed).toHaveLength(1)
})

test('a claim has committed and is answered while the look that follows it waits or fails', async () => {
  await enqueue('answered')
  const { connection, claimer } = replica('answered')
  await claimer.refresh(connection.db)
  claimer.runsReady()
  await using user = await transaction('0')
  await user.lockTable('q.run_group') // only a look reads it
  const { claimed, more } = await exchangeWork(connection, claimer, { ...nothing, claim: 2 })
  expect(await row(claimed[0]!.runId)).toMatchObject({ status: 'RUNNING', attempt: 1 })
  await expect(more).rejects.toThrow('lock timeout')
  await user.commit()
  await enqueue('answered')
  claimer.runsReady()
  expect((await wholeExchange(connection, claimer, { ...nothing, claim: 2 })).claimed).toHaveLength(1)
})

test('a lost lease neither finishes nor starts', async () => {
  await enqueue('lost', { count: 2 })
  const { take } = replica('lost')
  const { claimed, prefetched } = await take({ claim: 1, prefetch: 1 })
  await store.releaseTaskRuns([...claimed, ...prefetched].map(leaseOf))
  const answer = await take({ finishes: claimed.map((run) => finishOf(run)), starts: prefetched.map(leaseOf) })
  expect(answer).toMatchObject({ finished: [], started: [] })
  expect(await row(claimed[0]!.runId)).toMatchObject({ status: 'AVAILABLE' })
})

test('a prefetched run cannot be finished before it has started', async () => {
  await enqueue('unstarted')
  const { take } = replica('unstarted')
  const { prefetched } = await take({ prefetch: 1 })
  expect(await take({ finishes: prefetched.map((run) => finishOf(run)) })).toMatchObject({ finished: [] })
  expect(await row(prefetched[0]!.runId)).toMatchObject({ status: 'CLAIMED' })
})

test('a lost lease does not start the run that the next holder has claimed', async () => {
  await enqueue('next')
  const { take } = replica('next')
  const [lost] = (await take({ prefetch: 1 })).prefetched
  await store.releaseTaskRuns([leaseOf(lost!)])
  const [held] = (await take({ prefetch: 1 })).prefetched
  expect(await take({ starts: [leaseOf(lost!)] })).toMatchObject({ started: [] })
  expect(await row(held!.runId)).toMatchObject({ status: 'CLAIMED', fence: held!.fence })
})

test('a run that a user has locked does not delay the others', async () => {
  await enqueue('locked', { count: 4 })
  const { take } = replica('locked')
  const { claimed } = await take({ claim: 3 })
  await using user = await transaction(claimed[1]!.runId)
  // The locked one keeps its slot: of two, one is claimed for.
  const answer = await take({ finishes: claimed.map((run) => finishOf(run)), claim: 2 })
  expect(answer.finished).toEqual([leaseOf(claimed[0]!), leaseOf(claimed[2]!)])
  expect(answer.claimed).toHaveLength(1)
  await user.commit()
  expect(await take({ finishes: [finishOf(claimed[1]!)] })).toMatchObject({ finished: [leaseOf(claimed[1]!)] })
})

test('a start that a user has locked is distinguished from a lost one, and neither delays the others', async () => {
  await enqueue('waiting', { count: 4 })
  const { take } = replica('waiting')
  const { prefetched } = await take({ prefetch: 3 })
  const [locked, lost, free] = [prefetched[0]!, prefetched[1]!, prefetched[2]!]
  await store.releaseTaskRuns([leaseOf(lost)])
  await using user = await transaction(locked.runId)
  const answer = await take({ starts: prefetched.map(leaseOf), claim: 1 })
  expect(answer).toMatchObject({ started: [free.runId], busy: [locked.runId] })
  expect(answer.claimed).toHaveLength(1)
  expect(await row(locked.runId)).toMatchObject({ status: 'CLAIMED', fence: locked.fence })
  await user.commit()
  expect(await take({ starts: [leaseOf(locked)] })).toMatchObject({ started: [locked.runId], busy: [] })
})

test('a lock on another table that delays the whole exchange loses no result', async () => {
  await enqueue('both', { count: 3 })
  const { take } = replica('both')
  const { claimed, prefetched } = await take({ claim: 1, prefetch: 2 })
  const [locked, free] = [prefetched[0]!, prefetched[1]!]
  await using user = await transaction(locked.runId)
  const answer = await take({ finishes: [finishOf(claimed[0]!, 'nonsense')], starts: prefetched.map(leaseOf) })
  expect(answer).toMatchObject({ finished: [], started: [free.runId], busy: [locked.runId] })
  await user.commit()
})

test('a result that the database refuses fails alone', async () => {
  await enqueue('refused', { count: 3 })
  const { take } = replica('refused')
  const { claimed } = await take({ claim: 2 })
  const [good, bad] = [claimed[0]!, claimed[1]!]
  const answer = await take({ finishes: [finishOf(good), finishOf(bad, '{"not": json')], claim: 2 })
  expect(answer.finished).toEqual([leaseOf(good)])
  expect(answer.claimed).toHaveLength(1)
  expect(await row(bad.runId)).toMatchObject({ status: 'RUNNING' })
  const settlement = { lease: leaseOf(bad), outcome: { status: 'SUCCEEDED', result: '{"not": json' }, by } as const
  expect(await store.settleTaskRuns([settlement])).toEqual(['refused'])
})

test('after an error the next exchange succeeds on the same connection', async () => {
  await enqueue('again', { count: 2 })
  const { connection, take } = replica('again')
  const backend = async () =>
    (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(connection.db)).rows[0]
  const before = await backend()
  const { claimed } = await take({ claim: 1 })
  await take({ finishes: [finishOf(claimed[0]!, 'nonsense')] })
  expect(await take({ finishes: [finishOf(claimed[0]!)] })).toMatchObject({ finished: [leaseOf(claimed[0]!)] })
  expect(await backend()).toEqual(before)
})

test('after a broken connection no exchange is applied in part, and a new connection is opened', async () => {
  await enqueue('cut', { count: 2 })
  const { connection, take } = replica('cut')
  const { claimed } = await take({ claim: 1 })
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(connection.db)
  await sql`SELECT pg_terminate_backend(${rows[0]!.pid})`.execute(db)
  const finishes = claimed.map((run) => finishOf(run))
  const answer = await take({ finishes, claim: 1 }).catch(() => take({ finishes, claim: 1 }))
  expect(answer.finished).toEqual(claimed.map(leaseOf))
})

test('text of every kind is transferred unchanged', async () => {
  await enqueue('text')
  const { take } = replica('text')
  const { claimed } = await take({ claim: 1 })
  const strange = ['"', '\\', '{}', ',', 'NULL', '', ' ', "'", 'ü😀', '\n\t']
  await take({ finishes: [finishOf(claimed[0]!, JSON.stringify(strange))] })
  expect(await row(claimed[0]!.runId)).toMatchObject({ result: strange })
})

test('hot statements are prepared once per connection, and keep a good plan for any table size', async () => {
  await enqueue('kept', { count: 3 })
  const { connection, take } = replica('kept')
  for (let round = 0; round < 3; round++) {
    const { claimed } = await take({ claim: 1 })
    await take({ finishes: claimed.map((run) => finishOf(run)) })
  }
  const { rows } = await sql<{ name: string; generic: string; custom: string }>`
    SELECT name, generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE name LIKE 'q.%'
    ORDER BY name`.execute(connection.db)
  expect(rows).toEqual([
    { name: 'q.claim', generic: '3', custom: '0' },
    { name: 'q.claim-candidates', generic: '1', custom: '0' },
    { name: 'q.finish', generic: '3', custom: '0' },
  ])
})

test('behind a pooler no statement is prepared and no setting is changed', async () => {
  await enqueue('pooled')
  const { connection, take } = replica('pooled', { prepare: false })
  await take({ claim: 1 })
  const { rows } = await sql<{ prepared: string; lock_timeout: string; seqscan: string }>`
    SELECT (SELECT count(*) FROM pg_prepared_statements WHERE name <> '') AS prepared,
      current_setting('lock_timeout') AS lock_timeout, current_setting('enable_seqscan') AS seqscan`.execute(
    connection.db,
  )
  expect(rows).toEqual([{ prepared: '0', lock_timeout: '0', seqscan: 'on' }])
})

/** A user's own transaction that has the run locked. */
async function transaction(runId: string) {
  const client = new Client(url)
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM q.task_run WHERE id = $1 FOR UPDATE', [runId])
  return {
    lockTable: (name: 'q.run_group') => client.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`),
    commit: () => client.query('COMMIT'),
    [Symbol.asyncDispose]: () => client.end(),
  }
}
