import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { statesNamed, type RunFilter, type RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'
import { fleetOf } from './fleet.ts'

const its = await fixture()
const { store, db, enqueue, claimOne } = its
const fleet = fleetOf(its)

async function listed(filter: RunFilter): Promise<RunId[]> {
  return (await store.listTaskRuns(filter)).runs.map((run) => run.id)
}

test('runs are listed newest first, in pages that name the next until there is none', async () => {
  const ids = await enqueue('paged', { count: 5 })
  const first = await store.listTaskRuns({ task: 'paged' }, { limit: 2 })
  expect(first.runs.map((run) => run.id)).toEqual([ids[4], ids[3]])
  const second = await store.listTaskRuns({ task: 'paged' }, { limit: 2, cursor: first.next! })
  expect(second.runs.map((run) => run.id)).toEqual([ids[2], ids[1]])
  const last = await store.listTaskRuns({ task: 'paged' }, { limit: 2, cursor: second.next! })
  expect(last).toMatchObject({ runs: [{ id: ids[0], queue: 'default', status: 'AVAILABLE', code: null }] })
  expect(last.next).toBeUndefined()
})

test('a page that is exactly full is the last when nothing follows', async () => {
  await enqueue('exact', { count: 2 })
  expect((await store.listTaskRuns({ task: 'exact' }, { limit: 2 })).next).toBeUndefined()
})

test('paging neither skips nor repeats while runs are inserted and change', async () => {
  const before = await enqueue('moving', { count: 40 })
  const seen: RunId[] = []
  let cursor: string | undefined
  do {
    const page = await store.listTaskRuns({ task: 'moving' }, { limit: 7, ...(cursor !== undefined && { cursor }) })
    seen.push(...page.runs.map((run) => run.id))
    cursor = page.next
    await enqueue('moving', { count: 3 })
    await claimOne('moving')
  } while (cursor !== undefined)
  expect(seen).toEqual(before.toReversed())
})

test('a page has fifty runs by default, and between one and five hundred', async () => {
  await enqueue('many', { count: 520 })
  const sizes = [undefined, 100_000, 0, -3].map(
    async (limit) =>
      (await store.listTaskRuns({ task: 'many' }, { ...(limit !== undefined && { limit }) })).runs.length,
  )
  expect(await Promise.all(sizes)).toEqual([50, 500, 1, 1])
})

test('text that is not a cursor is refused', async () => {
  await expect(store.listTaskRuns({}, { cursor: "1' or" })).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
})

test.each([
  ['an unknown member', { state: ['FAILED'] }, {}, /state: the filter has no such member; it has status, /],
  ['a state that is not in a list', { status: 'FAILED' }, {}, /status: must be a list/],
  ['a date as text', { createdAfter: '2026-01-01' }, {}, /createdAfter: must be a valid Date/],
  ['a workflow that is not an id', { workflow: 'build' }, {}, /workflow: must be the id/],
  ['an unknown member of the page', {}, { lmit: 5 }, /lmit: the page has no such member; it has cursor, limit/],
  ['a limit that is not a number', {}, { limit: Number.NaN }, /limit: must be a number/],
])('a list by %s is refused, and does not return every run', async (_, filter, page, why) => {
  await expect(store.listTaskRuns(filter as never, page as never)).rejects.toMatchObject({
    code: 'FILTER_INVALID',
    why: expect.stringMatching(why),
  })
})

test('a misspelt state is refused with the states that exist', async () => {
  await expect(store.listTaskRuns({ status: ['FALED'] })).rejects.toMatchObject({
    code: 'STATUS_UNKNOWN',
    fix: expect.stringContaining('failed'),
  })
})

test('runs are found by task, queue, group, replica, workflow, unique key and time', async () => {
  const [plain] = await enqueue('sought')
  const elsewhere = await fleet.enqueueIn({ queue: 'aside', task: 'sought' })
  const [grouped] = await enqueue('sought', { group: 'tenant' })
  const [unique] = await enqueue('sought', { uniqueKey: 'only' })
  const [held] = await enqueue('held-by')
  await claimOne('held-by', 'replica-held')
  await db.updateTable('q.task_run').set({ workflow_id: 77 }).where('id', '=', plain!).execute()
  expect(await listed({ task: 'sought' })).toEqual([unique, grouped, elsewhere, plain])
  expect(await listed({ queue: 'aside' })).toEqual([elsewhere])
  expect(await listed({ queue: 'no such queue' })).toEqual([])
  expect(await listed({ group: 'tenant' })).toEqual([grouped])
  expect(await listed({ replica: 'replica-held' })).toEqual([held])
  expect(await listed({ workflow: '77' })).toEqual([plain])
  expect(await listed({ uniqueKey: 'only' })).toEqual([unique])
  expect(await listed({ task: 'sought', group: 'tenant', queue: 'aside' })).toEqual([])
})

test('after is inclusive and before exclusive, so that periods join without a gap', async () => {
  const ids = await enqueue('dated', { count: 3 })
  const [noon, one, two] = [12, 13, 14].map((hour) => new Date(Date.UTC(2020, 0, 1, hour)))
  for (const [index, created_at] of [noon!, one!, two!].entries())
    await db.updateTable('q.task_run').set({ created_at }).where('id', '=', ids[index]!).execute()
  expect(await listed({ task: 'dated', createdAfter: one! })).toEqual([ids[2], ids[1]])
  expect(await listed({ task: 'dated', createdBefore: one! })).toEqual([ids[0]])
  expect(await listed({ task: 'dated', createdAfter: noon!, createdBefore: two! })).toEqual([ids[1], ids[0]])
})

test('runs are found by status, under all its names', async () => {
  const [pending] = await enqueue('named', { delayMs: 60_000 })
  const [running, failed, available] = await enqueue('named', { count: 3 })
  await claimOne('named')
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' } as const
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('named')), outcome, by }])
  const named = (...status: string[]) => listed({ task: 'named', status })
  expect(await named('queued')).toEqual([available])
  expect(await named('Pending')).toEqual([available, pending])
  expect(await named('gated')).toEqual([pending])
  expect(await named('in_progress')).toEqual([running])
  expect(await named('FAILED', 'running')).toEqual([failed, running])
  expect(await named('done')).toEqual([])
  expect(await named()).toEqual([])
  expect((await store.listTaskRuns({ status: ['failed'] })).runs).toMatchObject([{ id: failed, code: 'TASK_ERROR' }])
})

test('every name of a state means what the specification says, in any case', () => {
  const names = {
    queued: ['AVAILABLE'],
    pending: ['PENDING', 'AVAILABLE'],
    'in-progress': ['CLAIMED', 'RUNNING'],
    building: ['RUNNING'],
    uploading: ['RUNNING'],
    done: ['SUCCEEDED'],
    completed: ['SUCCEEDED'],
    Succeeded: ['SUCCEEDED'],
    canceled: ['CANCELLED'],
    CANCELLED: ['CANCELLED'],
    'Dep-Failed': ['SKIPPED'],
    expired: ['EXPIRED'],
    claimed: ['CLAIMED'],
  }
  expect(Object.fromEntries(Object.keys(names).map((name) => [name, statesNamed([name])]))).toEqual(names)
  expect(statesNamed(['done', 'succeeded', 'queued'])).toEqual(['AVAILABLE', 'SUCCEEDED'])
  expect(() => statesNamed(['finito'])).toThrow(expect.objectContaining({ code: 'STATUS_UNKNOWN' }))
})

test('pages of waiting runs go past runs that SQL has parked, each run once', async () => {
  const ids = await enqueue('parked-pages', { count: 5 })
  await sql`UPDATE q.task_run SET run_at = 'infinity' WHERE id = ANY(${ids.slice(2)}::bigint[])`.execute(db)
  await sql`UPDATE q.task_run SET run_at = '-infinity' WHERE id = ${ids[1]!}`.execute(db)
  const seen: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < 10; page++) {
    const found = await store.listTaskRuns(
      { task: 'parked-pages' },
      { view: 'waiting', limit: 1, ...(cursor !== undefined && { cursor }) },
    )
    seen.push(...found.runs.map(({ id }) => id))
    cursor = found.next
    if (cursor === undefined) break
  }
  expect(seen).toEqual([ids[1], ids[0], ...ids.slice(2)])
})
