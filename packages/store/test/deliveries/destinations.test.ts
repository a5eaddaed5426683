/** Destinations: when reports begin and end, what they cost without one, and who may write them. */
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { migratedObjects, schemaDrift } from '@q/schema/objects'
import { exchangeLockMsMax } from '../../src/connection/session-settings.ts'
import { fixture } from '../fixture.ts'

const { store, db, enqueue, another } = await fixture()

afterEach(async () => {
  for (const { name } of await store.listDestinations()) await store.removeDestination(name)
})

const hook = { name: 'hook', kind: 'log', reports: ['status'] } as const

async function enabledTriggers(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT tgname AS name FROM pg_trigger
    WHERE tgname LIKE 'report%' AND tgenabled <> 'D' ORDER BY 1`.execute(db)
  return rows.map(({ name }) => name)
}

async function batchTriggers(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT tgname AS name FROM pg_trigger
    WHERE tgname LIKE 'report_batch%' ORDER BY 1`.execute(db)
  return rows.map(({ name }) => name)
}

const ofStatus = ['report_batch_enqueued', 'report_batch_status', 'report_workflow_started', 'report_workflow_status']

test('no trigger writes reports until a destination asks for them, and none after the last one is gone', async () => {
  expect(await enabledTriggers()).toEqual([])
  await store.putDestination({ ...hook, reports: ['heartbeat'] })
  expect(await enabledTriggers()).toEqual([])
  await store.putDestination(hook)
  expect(await enabledTriggers()).toEqual(ofStatus)
  await store.putDestination({ ...hook, name: 'other', reports: ['run-ended', 'status', 'recovery'] })
  expect(await enabledTriggers()).toEqual(['report_recovery', ...ofStatus, 'report_batch_ended'].toSorted())
  await store.removeDestination('other')
  expect(await enabledTriggers()).toEqual(ofStatus)
  await sql`DELETE FROM q.destination`.execute(db)
  expect(await enabledTriggers()).toEqual([])
})

test('enabled triggers are no drift of the schema', async () => {
  await store.putDestination(hook)
  expect(await schemaDrift(db, migratedObjects)).toEqual([])
})

test('a removed destination does not wait for readers, and its disabled triggers go with the next change', async () => {
  await store.putDestination(hook)
  await db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.task_run LIMIT 1`.execute(trx)
    expect(await store.removeDestination('hook')).toBe('removed')
  })
  expect(await enabledTriggers()).toEqual([])
  expect(await batchTriggers()).toEqual(['report_batch_enqueued', 'report_batch_status'])
  await store.putDestination({ ...hook, reports: ['alert'] })
  expect(await batchTriggers()).toEqual([])
})

test('a destination that is put again unchanged stays as it is', async () => {
  expect(await store.putDestination(hook)).toBe('made')
  expect(await store.putDestination(hook)).toBe('unchanged')
  expect(await store.putDestination({ ...hook, tasks: ['a'] })).toBe('changed')
})

test('destinations that are created and removed at the same time leave the right triggers enabled', async () => {
  const [first, second] = [another(), another()]
  for (let round = 0; round < 5; round++) {
    await store.putDestination({ ...hook, name: 'old' })
    await Promise.all([first.removeDestination('old'), second.putDestination({ ...hook, name: 'new' })])
    expect(await enabledTriggers()).toEqual(ofStatus)
    await store.removeDestination('new')
    expect(await enabledTriggers()).toEqual([])
  }
})

/** A transaction that has written a run and stays open. */
async function openWriter(): Promise<{ end(): Promise<void> }> {
  const writing = Promise.withResolvers<void>()
  const commit = Promise.withResolvers<void>()
  const lane = await store.internLane({ queue: 'default', task: 'before' })
  const open = db.transaction().execute(async (trx) => {
    await trx.insertInto('q.task_run').values({ task: 'before', lane }).execute()
    writing.resolve()
    await commit.promise
  })
  await writing.promise
  return {
    end() {
      commit.resolve()
      return open
    },
  }
}

test('a destination waits for a transaction that has written runs, and misses no change after it', async () => {
  const { end } = await openWriter()
  const made = store.putDestination(hook)
  await end()
  expect(await made).toBe('made')
  const [id] = await enqueue('after')
  const rows = await db.selectFrom('q.delivery').select('run_id').execute()
  expect(rows).toEqual([{ run_id: id }])
})

test('while a destination waits for a transaction, other writers continue', async () => {
  const { end } = await openWriter()
  const made = another().putDestination(hook)
  // If each of them waited for a try of the destination, it would give up before they are done.
  for (let no = 0; no < 120; no++) await enqueue('during')
  await end()
  expect(await made).toBe('made')
})

test('a change of destinations holds up replicas for less time than their exchanges wait for a lock', async () => {
  const { rows } = await sql<{
    ms: number
  }>`SELECT (extract(epoch FROM split_part(setting, '=', 2)::interval) * 1000)::int AS ms
    FROM pg_proc, unnest(proconfig) AS setting WHERE proname = 'follow_destinations' AND setting LIKE 'lock_timeout=%'`.execute(
    db,
  )
  // It may wait for the locks of two tables in a row while replicas queue for the first.
  expect(2 * (rows[0]?.ms ?? Infinity)).toBeLessThan(exchangeLockMsMax)
})

test('a paused destination collects reports; a removed one loses those that were not delivered', async () => {
  await store.putDestination(hook)
  expect(await store.pauseDestination('hook', { by: 'ada', reason: 'receiver moves' })).toBe('paused')
  await enqueue('collected')
  const [view] = await store.listDestinations()
  expect(view).toMatchObject({ pausedBy: 'ada', pauseReason: 'receiver moves', waiting: { count: 1, atLeast: false } })
  expect(await store.resumeDestination('hook')).toBe('resumed')
  expect(await store.removeDestination('hook')).toBe('removed')
  expect(await db.selectFrom('q.delivery').select('id').execute()).toEqual([])
  expect(await store.pauseDestination('hook', { by: 'ada' })).toBe('not-found')
})

test('destinations of a file that no longer declares them are removed; those of users stay', async () => {
  await store.putDestination({ ...hook, name: 'mine' })
  await store.putDestination({ ...hook, name: 'kept' }, { declared: true })
  await store.putDestination({ ...hook, name: 'dropped' }, { declared: true })
  expect(await store.removeUndeclared(['kept'])).toEqual(['dropped'])
  expect((await store.listDestinations()).map(({ name }) => name)).toEqual(['kept', 'mine'])
})

test('a sender finds again what it remembered', async () => {
  const state = { destination: 'hook', key: 'comment/1' }
  await store.setDestinationState(state, '17')
  await store.setDestinationState(state, '18')
  expect(await store.getDestinationState(state)).toBe('18')
  await store.setDestinationState(state, undefined)
  expect(await store.getDestinationState(state)).toBeUndefined()
})

test('of senders that replace the same shared value at once, one succeeds', async () => {
  const answers = (from: string | undefined) =>
    Promise.all([1, 2, 3].map((no) => store.replaceSharedState('writes', { from, to: `${from} then ${no}` })))
  expect((await answers(undefined)).filter(Boolean)).toHaveLength(1)
  expect((await answers(await store.getSharedState('writes'))).filter(Boolean)).toHaveLength(1)
  expect(await store.getSharedState('writes')).toMatch(/^undefined then \d then \d$/)
  expect(await store.replaceSharedState('writes', { from: 'older', to: 'd' })).toBe(false)
})
