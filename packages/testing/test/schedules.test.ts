/** Schedules tick for the time that a test lets pass, on the grid of a calendar that begins each time at the same moment. */
import '@q/testing/vitest'
import { expect, test, vi } from 'vitest'
import { testQueue, type DrainResult } from '@q/testing'
import { sqlClient } from './sql-client.ts'
import * as tasks from './tasks/by-the-clock.ts'

const { report, hourly, hourlySkip, hourlyAll } = tasks
const named = ({ ran }: DrainResult) => ran.map(({ task }) => task)

function count(drained: DrainResult): Record<string, number> {
  const counts = Map.groupBy(drained.ran, ({ task }) => task)
  return Object.fromEntries([...counts].map(([task, runs]) => [task, runs.length]))
}

test('after two hours without a drain, each policy decides which missed ticks are enqueued', async () => {
  await using q = await testQueue({ tasks })
  await q.travel('2h')
  expect(count(await q.drain())).toEqual({
    hourlySkip: 1, // 02:00, which is just due
    hourly: 1,
    hourlyAll: 2, // and 01:00
    minutelySkip: 2, // 01:59 and 02:00: late, and not missed
    minutely: 2,
    minutelyAll: 102, // and the newest hundred of those that were missed
  })
  expect(named(await q.drain())).toEqual([])
})

test('a tick that is half an hour late was missed: it is skipped or enqueued by policy', async () => {
  await using q = await testQueue({ tasks: { hourlySkip, hourly, hourlyAll } })
  await q.travel('90m')
  expect(count(await q.drain())).toEqual({ hourly: 1, hourlyAll: 1 })
})

test('a drain at every tick misses none, whatever the policy; travel times add up', async () => {
  await using q = await testQueue({ tasks: { hourlySkip, hourly, hourlyAll } })
  for (const [by, expected] of [
    ['59m', 0],
    ['1m', 3],
    ['30m', 0],
    ['29m', 0],
    ['1m', 3],
    ['1h', 3],
  ] as const) {
    await q.travel(by)
    expect((await q.drain()).ran).toHaveLength(expected)
  }
})

test('wall-clock time fires no tick and is not added to travel()', async () => {
  await using q = await testQueue({ tasks: { report } })
  await using sql = await sqlClient(q.url)
  await q.schedule('each second', { task: 'report', every: '1s', missed: 'all' })
  await q.drain() // the next tick is reckoned
  const isDue = async () =>
    expect(await sql.ask('SELECT next_tick < clock_timestamp() AS due FROM q.schedule')).toEqual([{ due: true }])
  await vi.waitFor(isDue, { timeout: 30_000, interval: 50 })
  expect(named(await q.drain())).toEqual([])
  await q.travel('1s')
  expect(named(await q.drain())).toEqual(['report'])
})

test('a schedule that is created, changed or resumed later counts from the current calendar time', async () => {
  await using q = await testQueue({ tasks: { report } })
  await using sql = await sqlClient(q.url)
  const hoursPassOnTheWall = () => sql.ask(`UPDATE q.schedule SET seen_until = seen_until + interval '3 h'`)
  await q.travel('30m')
  await q.schedule('hourly', { task: 'report', every: '1h', missed: 'all' })
  await hoursPassOnTheWall()
  expect(named(await q.drain())).toEqual([])
  await q.travel('30m')
  expect(named(await q.drain())).toEqual(['report'])
  await q.schedule('hourly', { task: 'report', every: '30m', missed: 'all' })
  await hoursPassOnTheWall()
  await q.travel('1h')
  expect(named(await q.drain())).toEqual(['report', 'report'])
  await q.pauseSchedule('hourly')
  await q.travel('1d')
  expect(named(await q.drain())).toEqual([])
  await q.resumeSchedule('hourly')
  await hoursPassOnTheWall()
  await q.travel('30m')
  expect(named(await q.drain())).toEqual(['report'])
})

test('a tick that was due by the calendar when its pattern changed is enqueued; one due by the wall clock is not', async () => {
  await using q = await testQueue({ tasks: { report } })
  await using sql = await sqlClient(q.url)
  await q.schedule('changing', { task: 'report', every: '1h' })
  await q.drain() // the next tick is reckoned
  await q.travel('1h')
  await q.schedule('changing', { task: 'report', every: '1d' })
  expect(named(await q.drain())).toEqual(['report'])
  await sql.ask('UPDATE q.schedule SET next_tick = clock_timestamp()') // after the calendar began
  await q.schedule('changing', { task: 'report', every: '2h' })
  expect(named(await q.drain())).toEqual([])
})

test('the calendar begins on a Monday, and patterns with weekdays and times follow it', async () => {
  await using q = await testQueue({ tasks: { report } })
  await q.schedule('workdays', { task: 'report', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', missed: 'all' })
  await q.travel('7h') // 07:00 UTC
  expect(named(await q.drain())).toEqual([])
  expect(await q.schedules()).toMatchObject([{ lastTick: null, nextTick: new Date('2024-01-01T08:00:00Z') }])
  await q.travel('1h')
  expect(named(await q.drain())).toEqual(['report'])
  await q.travel('7d')
  expect(named(await q.drain())).toHaveLength(5)
  expect(await q.schedules()).toMatchObject([
    { lastTick: new Date('2024-01-08T08:00:00Z'), nextTick: new Date('2024-01-09T08:00:00Z') },
  ])
})

test('a test can set the start of the calendar: ticks stay aligned where clocks change', async () => {
  await using q = await testQueue({ tasks: { report }, startsAt: new Date('2026-03-28T12:00:00Z') })
  await q.schedule('nightly', { task: 'report', cron: '30 2 * * *', timezone: 'Europe/Berlin' })
  await q.travel('13h') // to 03:00 on the day that has no 02:30
  expect(named(await q.drain())).toEqual(['report'])
  expect(await q.schedules()).toMatchObject([
    { lastTick: new Date('2026-03-29T01:00:00Z'), nextTick: new Date('2026-03-30T00:30:00Z') },
  ])
})

test('startsAt must be a valid date', async () => {
  const startsAt = new Date('the day before yesterday')
  await expect(testQueue({ tasks: { report }, startsAt })).rejects.toMatchObject({ code: 'STARTS_AT_INVALID' })
})

test('timestamps in the database have the same age as by the calendar', async () => {
  await using q = await testQueue({ tasks: { report } })
  await using sql = await sqlClient(q.url)
  await q.schedule('hourly', { task: 'report', every: '1h', missed: 'all' })
  await q.travel('2h')
  await q.drain()
  await q.travel('20m')
  const ages = `SELECT max(tick) < clock_timestamp() - interval '20 m' AS old, max(tick) - min(tick) = interval '1 h' AS apart
    FROM q.schedule_tick`
  expect(await sql.ask(ages)).toEqual([{ old: true, apart: true }])
})

test('runs of ticks have payload and options of their schedule', async () => {
  await using q = await testQueue({ tasks: { report } })
  await q.schedule('daily', { task: 'report', every: '1d', payload: { to: 'Ada' }, priority: 3, group: 'reports' })
  await q.travel('1d')
  expect((await q.drain()).ran).toMatchObject([{ task: 'report', result: 'Ada' }])
  await expect(q).toHaveEnqueued('report', { to: 'Ada' }, { priority: 3, group: 'reports', times: 1 })
})

test('a schedule that cannot be enqueued fails the drain with the reason, until it is corrected', async () => {
  await using q = await testQueue({ tasks: { report } })
  await q.schedule('wrong', { task: 'report', every: '1h' })
  await using sql = await sqlClient(q.url)
  await sql.ask(`UPDATE q.schedule SET options = '{"priority": 1000000000}' WHERE name = 'wrong'`)
  await q.schedule('right', { task: 'report', every: '1h' })
  await q.travel('1h')
  await expect(q.drain()).rejects.toMatchObject({
    code: 'SCHEDULE_FAILED',
    message: expect.stringContaining('"wrong"') as string,
  })
  await q.schedule('wrong', { task: 'report', every: '1h', priority: 1 })
  expect(named(await q.drain())).toEqual(['report', 'report'])
})
