/** Statements that lock several reports at once do not deadlock, in the one order of arrival in which they could. */
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { untilSessionsWait } from '../blocked-sessions.ts'
import { fixture } from '../fixture.ts'

const { store, another, db } = await fixture()

beforeEach(() => sql`DELETE FROM q.delivery`.execute(db))

type State = 'given up' | 'waits' | 'lease expired'

/** Writes a report in each of these states, in this order. Returns the ids. */
async function write(...reports: readonly (readonly [run: string, kind: string, state: State])[]): Promise<string[]> {
  const ids: string[] = []
  for (const [run, kind, state] of reports) {
    const isLeased = state === 'lease expired'
    const { rows } = await sql<{ id: string }>`
      INSERT INTO q.delivery (destination, news, subject, payload, due_at, leased_by, leased_until, attempts)
      VALUES ('hook', ${kind}, ${run} || '/' || gen_random_uuid(), '{}', ${state === 'given up' ? null : sql`clock_timestamp()`},
        ${isLeased ? 'a' : null}, ${isLeased ? sql`clock_timestamp() - interval '1 s'` : null}, 1) RETURNING id`.execute(
      db,
    )
    ids.push(rows[0]!.id)
  }
  return ids
}

/** While this row is locked, the first call waits, then the second one joins it; both end after the lock. */
async function whileLocked<A, B>(id: string, first: () => Promise<A>, second: () => Promise<B>, waiting: 1 | 2) {
  const calls = await db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.delivery WHERE id = ${id}::bigint FOR UPDATE`.execute(trx)
    const one = first()
    await untilSessionsWait(db, 1)
    const two = second()
    if (waiting === 2) await untilSessionsWait(db, 2)
    else await two
    return { one, two }
  })
  return Promise.all([calls.one, calls.two])
}

test('two persons who redeliver reports of one run do not deadlock', async () => {
  const [, second] = await write(
    ['run/1', 'status', 'given up'],
    ['run/1', 'status', 'given up'],
    ['run/1', 'status', 'given up'],
  )
  const one = () => another().redeliver(second!)
  const all = () => another().redeliverGivenUp({ destination: 'hook', limit: 10 })
  expect(await whileLocked(second!, one, all, 2)).toEqual(['due', 2])
})

test('a sender that marks failed reports does not deadlock with a person who redelivers others of their runs', async () => {
  // A run reports two kinds of changes, and the kind of a report decides which newer ones supersede it.
  const [failed1, , later1, , failed2] = await write(
    ['run/1', 'status', 'lease expired'],
    ['run/1', 'run-ended', 'given up'],
    ['run/1', 'run-ended', 'waits'],
    ['run/2', 'status', 'given up'],
    ['run/2', 'status', 'lease expired'],
  )
  const all = () => another().redeliverGivenUp({ destination: 'hook', limit: 10 })
  const outcome = { kind: 'failed', error: 'HTTP 503' } as const
  const marks = [failed1!, failed2!].map((id) => ({ id, revision: 1, outcome }))
  const mark = () => store.markDeliveries('a', marks)
  const [due, marked] = await whileLocked(later1!, all, mark, 1)
  expect(due).toBe(2)
  expect(marked.map(({ became }) => became)).toEqual(['retried', 'retried'])
})
