/** A claim and a look are one exchange: what is asked, what is learnt from the answer, and what waits for the next one. */
import { afterAll, expect, test } from 'vitest'
import { sql, type KyselyPlugin } from 'kysely'
import { connect, createClaimer, createStore, type Connection, type WorkExchange } from '@q/store'
import { fixture } from './fixture.ts'
import { wholeExchange } from './whole-exchange.ts'

const { enqueue, url, db } = await fixture()
const connections: Connection[] = []
afterAll(() => Promise.all(connections.map((connection) => connection.close())))

interface Counted extends Connection {
  /** The names of the statements of each round trip. */
  readonly roundTrips: string[][]
}

function counted(): Counted {
  const connection = connect(url, { purpose: 'exchange' })
  connections.push(connection)
  const roundTrips: string[][] = []
  const pipeline: Connection['pipeline'] = (queries, after) => {
    roundTrips.push([...queries.map(() => 'claim'), ...(after === undefined ? [] : ['look'])])
    return connection.pipeline(queries, after)
  }
  return { ...connection, pipeline, roundTrips }
}

function replica(...tasks: string[]) {
  const connection = counted()
  const claimer = createClaimer({ replicaId: 'replica-aaaa', tasks, queues: [] })
  return {
    ...connection,
    connection,
    claimer,
    take: (claim: number) => wholeExchange(connection, claimer, turnOf(claim)),
  }
}

function turnOf(claim: number): WorkExchange {
  return { finishes: [], starts: [], claim, prefetch: 0 }
}

test('a woken replica claims from its last candidate and looks for others, in one round trip', async () => {
  await enqueue('again')
  const { take, claimer, roundTrips } = replica('again')
  expect((await take(2)).claimed).toHaveLength(1)
  await enqueue('again')
  claimer.runsReady()
  roundTrips.length = 0
  expect(await take(2)).toMatchObject({ claimed: [{ task: 'again' }], more: false })
  expect(roundTrips).toEqual([['claim', 'look']])
})

test('a replica that knows a backlog claims from it without a look', async () => {
  await enqueue('backlog', { count: 6 })
  const { take, roundTrips } = replica('backlog')
  for (let turn = 0; turn < 3; turn++) expect((await take(2)).claimed).toHaveLength(2)
  expect(roundTrips).toEqual([['claim'], ['claim'], ['claim']])
})

test('the look after an empty claim names the candidate for the next claim', async () => {
  await enqueue('first')
  const { take, claimer, roundTrips } = replica('first', 'second')
  await take(1)
  await enqueue('second')
  claimer.runsReady()
  roundTrips.length = 0
  expect(await take(2)).toMatchObject({ claimed: [], more: true })
  expect(await take(2)).toMatchObject({ claimed: [{ task: 'second' }], more: false })
  expect(roundTrips).toEqual([['claim', 'look'], ['claim']])
})

test('an urgent run is overtaken by at most one exchange once the replica looks', async () => {
  await enqueue('urgent', { count: 4 })
  const { take, claimer } = replica('urgent')
  await take(1)
  const [urgent] = await enqueue('urgent', { priority: -1 })
  claimer.runsReady()
  const orders = [await take(1), await take(1)].map(({ claimed }) => claimed[0]?.runId)
  expect(orders[1]).toBe(urgent)
})

test('a new group gets its turn in the exchange after the look', async () => {
  await enqueue('groups', { count: 6, group: 'big' })
  const { take, claimer } = replica('groups')
  await take(1)
  const [small] = await enqueue('groups', { group: 'small' })
  claimer.runsReady()
  await take(1)
  expect((await take(2)).claimed.map(({ runId }) => runId)).toContain(small)
})

test('a ready run that another transaction has locked does not keep the replica asking', async () => {
  await enqueue('locked')
  const { take, claimer } = replica('locked')
  await take(1)
  const [locked] = await enqueue('locked')
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.task_run').select('id').where('id', '=', locked!).forUpdate().execute()
    claimer.runsReady()
    expect(await take(5)).toMatchObject({ claimed: [], more: false })
  })
  claimer.expire()
  expect(await take(5)).toMatchObject({ claimed: [], lookedOnly: true, more: true })
  expect(await take(5)).toMatchObject({ claimed: [{}], lookedOnly: false })
})

test('two connections of one replica share a claimer and take every run once', async () => {
  await enqueue('shared', { count: 120 })
  const { claimer, take, connection } = replica('shared')
  const other = counted()
  const first = (await take(1)).claimed
  const rounds = await Promise.all(
    [80, 80].map((claim, at) => wholeExchange(at === 0 ? connection : other, claimer, turnOf(claim))),
  )
  const rest = await take(80)
  const ids = [first, ...rounds.map(({ claimed }) => claimed), rest.claimed].flat().map(({ runId }) => runId)
  expect(new Set(ids).size).toBe(120)
  expect(ids).toHaveLength(120)
  // Each found the head exhausted; new runs of it are claimed all the same.
  await enqueue('shared', { count: 2 })
  claimer.runsReady()
  expect((await take(2)).claimed).toHaveLength(2)
})

test('a response that is older than the last look does not replace its result', () => {
  const position = { fromRunAt: '-infinity', fromId: '1', lookMs: 0 }
  const head = { lane: 1, task: 't', queue: 'default', priority: 0, group: '', weight: 1, ...position }
  const claimer = createClaimer({ replicaId: 'replica-aaaa', tasks: ['late'], queues: [] })
  claimer.statementsFor({ claim: 1, prefetch: 0 }).looked([head])
  const slow = claimer.statementsFor({ claim: 1, prefetch: 0 })
  claimer.runsReady()
  const later = claimer.statementsFor({ claim: 0, prefetch: 1 })
  later.claimed({ claim: [], prefetch: [head as never] })
  later.looked([head])
  // The other connection's claim found the head empty, before the runs that the look showed were enqueued.
  slow.claimed({ claim: [], prefetch: [] })
  expect(claimer.exhausted).toBe(false)
})

test('a look that was sent before runs became ready does not replace a later one', () => {
  const claimer = createClaimer({ replicaId: 'replica-aaaa', tasks: ['early'], queues: [] })
  const early = claimer.statementsFor({ claim: 1, prefetch: 0 })
  claimer.runsReady()
  early.looked([])
  expect(claimer.statementsFor({ claim: 1, prefetch: 0 }).look).toBeDefined()
})

test('512 runs that never began are released by one statement, and get their attempts back', async () => {
  await enqueue('withdrawn', { count: 512 })
  const { take } = replica('withdrawn')
  const { claimed } = await take(512)
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => (statements++, result),
  }
  const runIds = await createStore(db.withPlugin(counting)).releaseTaskRuns(claimed, undefined, { skipBusy: true })
  expect(statements).toBe(1)
  expect(new Set(runIds)).toEqual(new Set(claimed.map(({ runId }) => runId)))
  const { rows } = await sql`SELECT DISTINCT status, attempt, fence FROM q.task_run WHERE task = 'withdrawn'`.execute(
    db,
  )
  expect(rows).toEqual([{ status: 'AVAILABLE', attempt: 0, fence: 2 }])
})
