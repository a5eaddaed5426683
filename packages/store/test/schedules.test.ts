import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { DueSchedule, NewRun, ScheduleInput, Store } from '@q/store'
import { fixture } from './fixture.ts'

const { store, db, another } = await fixture()

const lane = await store.internLane({ queue: 'default', task: 'report' })

const run: NewRun = { task: 'report', lane, payload: {} }

function input(name: string, more: Partial<ScheduleInput> = {}): ScheduleInput {
  return { name, task: 'report', cron: '0 9 * * *', timezone: 'UTC', missed: 'one', payload: {}, ...more }
}

async function due(name: string, by: Store = store): Promise<DueSchedule | undefined> {
  return (await by.dueSchedules({ limit: 1_000 })).find((schedule) => schedule.name === name)
}

const tomorrow = new Date(Date.now() + 86_400_000)

const anHourAgo = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000)

/** Computes the due ticks, as a replica does. */
function tick(by: Store, seen: DueSchedule, ticks: readonly Date[] = [anHourAgo]) {
  const runs = ticks.map((one) => ({ tick: one, run }))
  return by.enqueueTicks({
    schedule: seen.name,
    version: seen.version,
    seenUntil: seen.now,
    next: tomorrow,
    ticks: runs,
  })
}

async function ticksOf(name: string) {
  return db.selectFrom('q.schedule_tick').selectAll().where('schedule', '=', name).orderBy('tick').execute()
}

async function row(name: string) {
  return db.selectFrom('q.schedule').selectAll().where('name', '=', name).executeTakeFirstOrThrow()
}

/** Its next tick is one that passed an hour ago. */
async function makeDue(name: string): Promise<DueSchedule> {
  await sql`UPDATE q.schedule SET next_tick = ${anHourAgo.toISOString()}::timestamptz,
    seen_until = ${anHourAgo.toISOString()}::timestamptz - interval '1 hour' WHERE name = ${name}`.execute(db)
  const found = await due(name)
  if (found === undefined) throw new Error(`${name} is not due`)
  return found
}

test('a new schedule is due for its first computation, counted from its creation', async () => {
  expect(await store.putSchedule(input('new'))).toBe('made')
  const found = await due('new')
  expect(found).toMatchObject({ nextTick: null, lastTick: null, isOwn: false })
  expect(found!.seenUntil.getTime()).toBeLessThanOrEqual(found!.now.getTime())
  expect(await tick(store, found!, [])).toEqual([])
  expect(await due('new')).toBeUndefined()
  expect((await row('new')).next_tick).toEqual(tomorrow)
})

test('a tick is enqueued once, however many replicas have seen it', async () => {
  await store.putSchedule(input('once'))
  const stores = Array.from({ length: 8 }, () => another())
  for (let round = 0; round < 5; round++) {
    await makeDue('once')
    await db.deleteFrom('q.schedule_tick').where('schedule', '=', 'once').execute()
    const seen = await Promise.all(stores.map((one) => due('once', one)))
    const answers = await Promise.all(stores.map((one, index) => tick(one, seen[index]!)))
    expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1)
    expect(await ticksOf('once')).toHaveLength(1)
  }
})

test('a tick and its run are inserted together or not at all', async () => {
  await store.putSchedule(input('together'))
  const seen = await makeDue('together')
  const before = await row('together')
  const bad = store.enqueueTicks({
    schedule: 'together',
    version: seen.version,
    seenUntil: seen.now,
    next: tomorrow,
    ticks: [{ tick: anHourAgo, run: { ...run, payload: 1n } }],
  })
  await expect(bad).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
  expect(await row('together')).toEqual(before)
  const [made] = (await tick(store, seen)) ?? []
  expect(await ticksOf('together')).toEqual([{ schedule: 'together', tick: anHourAgo, run_id: made!.id }])
  expect(await row('together')).toMatchObject({
    last_tick: anHourAgo,
    next_tick: tomorrow,
    version: before.version + 1,
  })
})

test('a tick that manual SQL restores does not run a second time', async () => {
  await store.putSchedule(input('back'))
  await tick(store, await makeDue('back'))
  expect(await tick(store, await makeDue('back'))).toEqual([])
  expect(await ticksOf('back')).toHaveLength(1)
})

test('an unchanged definition changes nothing; only a new pattern restarts the schedule', async () => {
  await store.putSchedule(input('same'))
  await tick(store, (await due('same'))!, [])
  const before = await row('same')
  expect(await store.putSchedule(input('same'))).toBe('unchanged')
  expect(await row('same')).toEqual(before)
  expect(await store.putSchedule(input('same', { payload: { a: 1 }, missed: 'all' }))).toBe('changed')
  expect(await row('same')).toMatchObject({ next_tick: tomorrow, seen_until: before.seen_until })
  expect(await store.putSchedule(input('same', { cron: '0 10 * * *' }))).toBe('changed')
  const after = await row('same')
  expect(after.next_tick).toBeNull()
  expect(after.seen_until.getTime()).toBeGreaterThanOrEqual(before.seen_until.getTime())
})

test('a replica that read the schedule before it changed enqueues nothing', async () => {
  await store.putSchedule(input('changed'))
  const seen = await makeDue('changed')
  await store.putSchedule(input('changed', { payload: { new: true } }))
  expect(await tick(store, seen)).toBeUndefined()
  const again = await due('changed')
  expect(again).toMatchObject({ payload: { new: true }, nextTick: anHourAgo })
  expect(await tick(store, again!)).toHaveLength(1)
})

test('a tick that is due when the pattern changes is still enqueued, even if two releases alternate', async () => {
  await store.putSchedule(input('owed'))
  await makeDue('owed')
  for (const cron of ['0 10 * * *', '0 9 * * *', '0 10 * * *']) await store.putSchedule(input('owed', { cron }))
  const found = await due('owed')
  expect(found).toMatchObject({ nextTick: anHourAgo, cron: '0 10 * * *' })
  expect(found!.nextTick!.getTime()).toBeLessThanOrEqual(found!.seenUntil.getTime())
  await tick(store, found!)
  expect(await ticksOf('owed')).toHaveLength(1)
})

test('a paused schedule does not tick, even for a replica that read it before; resumed, it starts from that moment', async () => {
  await store.putSchedule(input('paused'))
  const seen = await makeDue('paused')
  expect(await store.pauseSchedule('paused', 'ada')).toBe('paused')
  expect(await tick(store, seen)).toBeUndefined()
  expect(await due('paused')).toBeUndefined()
  expect(await store.getSchedule('paused')).toMatchObject({ pausedBy: 'ada', nextTick: null })
  await store.putSchedule(input('paused', { cron: '0 11 * * *' }))
  expect(await due('paused')).toBeUndefined()
  expect(await store.resumeSchedule('paused')).toBe('resumed')
  const resumed = await due('paused')
  expect(resumed).toMatchObject({ nextTick: null, pausedAt: null })
  expect(resumed!.seenUntil > anHourAgo).toBe(true)
})

test('a schedule that plain SQL paused does not tick either', async () => {
  await store.putSchedule(input('paused manually'))
  const seen = await makeDue('paused manually')
  await sql`UPDATE q.schedule SET paused_at = now() WHERE name = 'paused manually'`.execute(db)
  expect(await tick(store, seen)).toBeUndefined()
  expect(await ticksOf('paused manually')).toEqual([])
})

test('resuming a schedule that is not paused changes nothing; a schedule that does not exist is reported as not found', async () => {
  await store.putSchedule(input('awake'))
  const before = await row('awake')
  expect(await store.resumeSchedule('awake')).toBe('resumed')
  expect(await row('awake')).toEqual(before)
  expect(await store.resumeSchedule('absent')).toBe('not-found')
  expect(await store.pauseSchedule('absent', 'ada')).toBe('not-found')
  expect(await store.removeSchedule('absent')).toBe('not-found')
  expect(await store.removeSchedule('awake')).toBe('removed')
  expect(await store.getSchedule('awake')).toBeUndefined()
})

test.each([{ priority: 40_000 }, { priority: 0.5 }, { group: '' }, { group: 'a\u0000' }, { expiresInMs: -1 }])(
  'a schedule whose runs would be refused for %j is refused itself',
  async (options) => {
    await expect(store.putSchedule(input('refused', { options }))).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
    expect(await store.getSchedule('refused')).toBeUndefined()
  },
)

test('due schedules are read in pages, by name', async () => {
  await db.deleteFrom('q.schedule').execute()
  for (const name of ['c', 'a', 'b']) await store.putSchedule(input(name))
  const first = await store.dueSchedules({ limit: 2 })
  const second = await store.dueSchedules({ limit: 2, after: first.at(-1)!.name })
  expect([...first, ...second].map(({ name }) => name)).toEqual(['a', 'b', 'c'])
})

test('the next tick of all schedules is known, without paused schedules and those without a tick', async () => {
  await db.deleteFrom('q.schedule').execute()
  expect(await store.nextTickInMs()).toBeUndefined()
  await store.putSchedule(input('next'))
  expect(await store.nextTickInMs()).toBe(0)
  await tick(store, (await due('next'))!, [])
  expect(await store.nextTickInMs()).toBeGreaterThan(3_600_000)
  await sql`UPDATE q.schedule SET next_tick = 'infinity'`.execute(db)
  expect(await store.nextTickInMs()).toBeUndefined()
  expect(await store.listSchedules()).toMatchObject([{ nextTick: null }])
  await store.resumeSchedule('next')
  await store.pauseSchedule('next', 'ada')
  expect(await store.nextTickInMs()).toBeUndefined()
})

test('runs that wait behind a concurrency key are promoted when their tick is committed', async () => {
  await store.putSchedule(input('keyed'))
  const seen = await makeDue('keyed')
  const keyed = { ...run, concurrency: { scope: 'report', key: 'k' } }
  const ticks = [anHourAgo, new Date(anHourAgo.getTime() + 1_000)].map((one) => ({ tick: one, run: keyed }))
  const { version, now: seenUntil } = seen
  const made = await store.enqueueTicks({ schedule: 'keyed', version, seenUntil, next: tomorrow, ticks })
  expect(made!.map(({ status }) => status)).toEqual(['AVAILABLE', 'PENDING'])
})

test('records of ticks are removed with their runs', async () => {
  await store.putSchedule(input('pruned'))
  const [made] = (await tick(store, await makeDue('pruned'))) ?? []
  await store.cancelTaskRuns([made!.id])
  await store.pruneTaskRuns({ keepMs: -1_000, limit: 10_000 })
  expect(await ticksOf('pruned')).toEqual([])
})

test.each([
  ['task:report', {}, 'belong to the tasks'],
  ['', {}, 'is empty'],
  ['good', { payload: () => 1 }, 'cannot be stored'],
])('a schedule "%s" with %j is refused', async (name, more, why) => {
  const wrong = store.putSchedule(input(name, more))
  await expect(wrong).rejects.toMatchObject({ code: 'SCHEDULE_INVALID', why: expect.stringContaining(why) })
})
