/** Schedules, as a producer creates them. Replicas enqueue their ticks. */
import { afterAll, afterEach, expect, expectTypeOf, test } from 'vitest'
import { queue, type Queue } from '@q/client'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import type * as tasks from './tasks.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
const q = queue<typeof tasks>(database.url)
afterAll(async () => {
  await q.close()
  await connection.close()
  await database.drop()
})

afterEach(async () => {
  for (const { name } of await q.schedules()) await q.unschedule(name)
})

const daily = { task: 'hello', cron: '0 9 * * *', payload: { name: 'Ada' } } as const

test('a schedule can be created, listed, updated and removed', async () => {
  await q.schedule('daily', {
    ...daily,
    timezone: 'Europe/Berlin',
    missed: 'all',
    priority: 3,
    group: 'g',
    expires: '1h',
  })
  expect(await q.schedules()).toMatchObject([
    {
      name: 'daily',
      task: 'hello',
      cron: '0 9 * * *',
      timezone: 'Europe/Berlin',
      missed: 'all',
      payload: { name: 'Ada' },
      options: { priority: 3, group: 'g', expiresInMs: 3_600_000 },
      isOwn: false,
    },
  ])
  await q.schedule('daily', { task: 'hello', every: '5m', payload: { name: 'Bob' } })
  expect(await q.schedules()).toMatchObject([{ cron: '0 */5 * * * *', timezone: 'UTC', missed: 'one', options: {} }])
  expect(await q.unschedule('daily')).toBe(true)
  expect(await q.unschedule('daily')).toBe(false)
})

test('runScheduleNow enqueues one run in addition to the ticks, even while the schedule is paused', async () => {
  await q.schedule('now', { ...daily, priority: 3, expires: '1h' })
  await q.pauseSchedule('now', 'ada')
  expect(await q.schedules()).toMatchObject([{ name: 'now', pausedBy: 'ada' }])
  const run = await q.runScheduleNow('now')
  const detail = await store.getTaskRun(run.id)
  expect(detail?.run).toMatchObject({ task: 'hello', payload: { name: 'Ada' }, priority: 3 })
  expect(await q.schedules()).toMatchObject([{ lastTick: null }])
  await q.resumeSchedule('now')
  expect(await q.schedules()).toMatchObject([{ pausedAt: null }])
})

test.each<[string, object, string]>([
  ['no time at all', {}, 'neither cron nor every'],
  ['a wrong pattern', { cron: '61 * * * *' }, 'minute'],
  ['too few fields', { cron: '* * *' }, 'five or six fields'],
  ['a day that does not exist', { cron: '0 0 30 2 *' }, 'never ticks'],
  ['a wrong interval', { every: '7s' }, 'every: must divide'],
  ['two times', { cron: '* * * * *', every: '1m' }, 'cannot be combined with cron'],
  ['a wrong time zone', { cron: '* * * * *', timezone: 'Mars/Base' }, 'Mars/Base'],
  ['an option that does not exist', { cron: '* * * * *', delay: '5m' }, 'delay: no such option'],
  ['a priority that no run can have', { cron: '* * * * *', priority: 40_000 }, 'priority'],
  ['a wrong policy', { cron: '* * * * *', missed: 'some' }, 'missed'],
])('%s is rejected with the reason', async (_, time, why) => {
  const wrong = q.schedule('wrong', { task: 'hello', payload: { name: 'x' }, ...time })
  await expect(wrong).rejects.toMatchObject({ code: 'SCHEDULE_INVALID', why: expect.stringContaining(why) })
  expect((await q.schedules()).map(({ name }) => name)).not.toContain('wrong')
})

test('a schedule that does not exist is reported as not found', async () => {
  const missing = expect.objectContaining({ code: 'SCHEDULE_NOT_FOUND' })
  await expect(q.pauseSchedule('missing')).rejects.toEqual(missing)
  await expect(q.resumeSchedule('missing')).rejects.toEqual(missing)
  await expect(q.runScheduleNow('missing')).rejects.toEqual(missing)
})

const neverCalled = async (typed: Queue<typeof tasks>) => {
  await typed.schedule('x', { task: 'resize', every: '1h', payload: { url: 'x' } })
  // @ts-expect-error no task has this name
  await typed.schedule('x', { task: 'helo', every: '1h', payload: {} })
  // @ts-expect-error the payload is not that of the task
  await typed.schedule('x', { task: 'resize', every: '1h', payload: { url: 5 } })
  // @ts-expect-error it needs a payload
  await typed.schedule('x', { task: 'resize', every: '1h' })
  // @ts-expect-error no such policy
  await typed.schedule('x', { task: 'resize', every: '1h', payload: { url: 'x' }, missed: 'some' })
  expectTypeOf(await (await typed.runScheduleNow<'resize'>('x')).result()).toEqualTypeOf<{ bytes: number }>()
}

test('tasks, payloads and policies are typed', () => expect(neverCalled).toBeTypeOf('function'))
