/**
 * The ready index is full of entries of runs that have ended, and a session holds a snapshot that still needs them. A claim
 * from the cursor of a look touches as many pages as with an empty table; a claim from the beginning reads all of them.
 *
 * `Q_PLAN_DEAD` runs have ended: 20 000, in the long form 200 000.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { Client } from 'pg'
import { candidatesStatement } from '../../src/runs/claim-candidates.ts'
import { claimStatement } from '../../src/runs/claim.ts'
import type { Candidate } from '../../src/runs/fair-shares.ts'
import { createClaimCursors, firstCursor, type Cursor } from '../../src/runs/claim-cursors.ts'
import { fixture } from '../fixture.ts'
import { explain, pins, prepare, type Effort } from './explain.ts'

const deadRuns = Number(process.env.Q_PLAN_DEAD ?? (process.env.Q_TEST_LONG === undefined ? 20_000 : 200_000))
const claimed = 100
/** About ten for each claimed run: the row, its new version, and its entries in indexes. */
const pagesMax = 1_500

const { db, url, store } = await fixture()
const sessions: Client[] = []
afterAll(() => Promise.all(sessions.map((client) => client.end())))
let effortOf: (from: Cursor) => Promise<Effort>
let head: Candidate

beforeAll(async () => {
  await sql`ALTER TABLE q.task_run SET (autovacuum_enabled = false)`.execute(db)
  const lane = await store.internLane({ queue: 'default', task: 'wanted' })
  await fillReady(lane)
  const holding = await session()
  await holding.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM q.task_run')
  await endAll()
  await store.enqueueTaskRuns(Array.from({ length: 2 * claimed }, () => ({ task: 'wanted', lane, payload: {} })))
  const [candidate] = createClaimCursors({ lastMs: () => 1 }).looked(
    (await db.executeQuery(candidatesStatement({ tasks: ['wanted'], queues: [], capabilities: [] }))).rows,
  )
  head = candidate!
  const claiming = await session(`-c jit=off ${pins.map((pin) => `-c ${pin}=off`).join(' ')}`)
  const statementOf = (from: Cursor) =>
    claimStatement({ replicaId: 'replica-aaaa', prefetch: false, quotas: [{ ...head, runs: claimed, from }] })
  await prepare(claiming, 'claiming', statementOf(firstCursor))
  effortOf = (from) => explain(claiming, 'claiming', statementOf(from), 'force_generic_plan')
}, 300_000)

test('a claim from the cursor of a look does not read entries of runs that have ended', async () => {
  const { scans, rows, pages } = await effortOf(head.from!)
  expect(scans).toEqual(['task_run_pkey', 'task_run_ready'])
  expect(rows).toBeLessThanOrEqual(4 * claimed)
  expect(pages).toBeLessThanOrEqual(pagesMax)
})

test('a claim from the beginning reads all of them: the entries are there', async () => {
  expect((await effortOf(firstCursor)).pages).toBeGreaterThan(pagesMax + deadRuns / 100)
})

async function session(options?: string): Promise<Client> {
  const client = new Client({ connectionString: url, ...(options !== undefined && { options }) })
  await client.connect()
  sessions.push(client)
  return client
}

async function fillReady(lane: number): Promise<void> {
  await withoutTriggers(
    sql`INSERT INTO q.task_run (lane, task) SELECT ${lane}, 'wanted' FROM generate_series(1, ${deadRuns}::int)`,
  )
}

async function endAll(): Promise<void> {
  await withoutTriggers(sql`
    UPDATE q.task_run SET status = 'SUCCEEDED', fence = 1, attempt = 1, replica_id = 'replica-gone', started_at = now(), finished_at = now(), result = '1'`)
}

async function withoutTriggers(statement: ReturnType<typeof sql>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(trx)
    await statement.execute(trx)
  })
}
