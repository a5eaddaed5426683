/**
 * Plans are pinned by what the statements do, not by what they look like: the ways they take to q.task_run, the rows
 * they look at and the pages they touch, which PostgreSQL counts exactly. Each is measured
 *
 * - with no runs, with only those it is about, and in a table filled with runs that are none of its business;
 * - with statistics of the filled table, with none, and with a plan that was kept from when the table was empty;
 * - planned for its parameters and planned for any;
 * - with the settings a connection needs to keep plans, and, where the table is full, also without them.
 *
 * Reads for operators keep no plans: they are measured with no runs and with the full table and its history.
 */
import { beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { Client } from 'pg'
import type { RunId } from '@q/store'
import { fixture } from '../fixture.ts'
import { explain, pins, prepare, type Effort, type PlanMode } from './explain.ts'
import { fill } from './fill.ts'
import { fillHistory, fillOpenItems } from './fill-history.ts'
import { hotStatements } from './hot-statements.ts'
import { liveWork, noWork, type LiveWork } from './live-work.ts'
import { operatorReads } from './operator-reads.ts'
import { planRows, planRowsOf } from './plan-rows.ts'
import { readEffort, type ReadEffort } from './read-efforts.ts'

const modes: readonly PlanMode[] = ['force_custom_plan', 'force_generic_plan']
const seen = new Map<string, (Effort & { readonly when: string })[]>()
const seenOfReads = new Map<string, Map<'no runs' | 'full', ReadEffort>>()

const { db, url } = await fixture()
// Only this file decides when statistics are made.
await sql`ALTER TABLE q.task_run SET (autovacuum_enabled = false)`.execute(db)

beforeAll(async () => {
  await using sessions = new AsyncDisposableStack()
  const session = (pinned?: 'pinned') => open(sessions, pinned)
  const old = await session('pinned')
  await measure('no runs at all', old, noWork)
  await measureReads('no runs')
  const work = await liveWork(url)
  await measure('nothing else', await session('pinned'), work)
  await measure('nothing else, planned for no runs', old, work)
  await fill(db, work.lanes)
  await measure('full, planned for no runs', old, work)
  await measure('full, no statistics', await session('pinned'), work)
  await measure('full, no statistics, not pinned', await session(), work)
  await sql`ANALYZE q.task_run`.execute(db)
  await measure('full, statistics', await session('pinned'), work)
  await measure('full, statistics, not pinned', await session(), work)
  await fillHistory(db)
  await fillOpenItems(db)
  await sql`ANALYZE`.execute(db)
  await measureReads('full')
}, 300_000)

test.for(hotStatements(db, noWork))(
  'the cost of $of does not grow with finished, blocked, future or unroutable runs',
  ({ of, scans, rowsMax, pagesMax }) => {
    const efforts = seen.get(of) ?? []
    expect(efforts).not.toHaveLength(0)
    for (const { when, ...effort } of efforts) {
      expect.soft(scans, when).toEqual(expect.arrayContaining([...effort.scans]))
      expect.soft(effort.rows, when).toBeLessThanOrEqual(rowsMax)
      expect.soft(effort.pages, when).toBeLessThanOrEqual(pagesMax)
    }
  },
)

for (const { of } of hotStatements(db, noWork)) {
  test(`${of} does not compare each run of its batch with every other`, () => {
    const inVain = (seen.get(of) ?? [])
      .filter(({ when }) => when.startsWith('full'))
      .map((effort) => effort.pairsInVain)
    expect(Math.max(...inVain)).toBe(0)
  })
}

test.for([...operatorReads])('the cost of $of does not grow with history or backlog', ({ of, rowsMax }) => {
  const efforts = seenOfReads.get(of)
  expect(efforts?.get('no runs')?.rows).toBe(0)
  expect(efforts?.get('full')?.wholeScans).toEqual([])
  expect(efforts?.get('full')?.rows).toBeLessThanOrEqual(rowsMax)
  // A read that finds nothing to read shows nothing about its cost.
  expect(efforts?.get('full')?.rows).toBeGreaterThanOrEqual(Math.min(1, rowsMax))
})

test('the table is filled, and a size in which every plan is cheap is refused', async () => {
  const { rows } = await sql<{ finished: number }>`
    SELECT count(*)::int AS finished FROM q.task_run WHERE finished_at IS NOT NULL`.execute(db)
  expect(rows[0]?.finished).toBeGreaterThanOrEqual(planRows)
  for (const text of ['0', '', 'many', '-1', '1e6', '19999']) expect(() => planRowsOf(text)).toThrow('Q_PLAN_ROWS')
})

async function measureReads(when: 'no runs' | 'full'): Promise<void> {
  const newest = await db.selectFrom('q.task_run').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  for (const { of, read } of operatorReads) {
    const effort = await readEffort(url, (store) => read(store, (newest?.id ?? '1') as RunId))
    seenOfReads.set(of, new Map([...(seenOfReads.get(of) ?? []), [when, effort]]))
  }
}

/** Keeps the plans it made; so a new one is needed for new plans. */
async function open(sessions: AsyncDisposableStack, pinned?: 'pinned'): Promise<Client> {
  // Like every connection of ours: before PostgreSQL 18 the server would compile the plans of a pinned session, for a second each.
  const options = ['jit', ...(pinned === undefined ? [] : pins)].map((setting) => `-c ${setting}=off`).join(' ')
  const client = new Client({ connectionString: url, options })
  await client.connect()
  sessions.defer(() => client.end())
  for (const [number, { query }] of hotStatements(db, noWork).entries()) await prepare(client, `s${number}`, query)
  return client
}

async function measure(when: string, client: Client, work: LiveWork): Promise<void> {
  for (const [number, { of, query }] of hotStatements(db, work).entries()) {
    for (const mode of modes) {
      const effort = await explain(client, `s${number}`, query, mode)
      seen.set(of, [...(seen.get(of) ?? []), { when: `${when}, ${mode}`, ...effort }])
    }
  }
}
