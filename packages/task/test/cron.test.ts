import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cronProblem, nextTick, ticksBetween, timezoneProblem } from '../src/cron.ts'

/** Ticks of a pattern after a moment, as UTC. */
function ticks(cron: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = []
  for (let at = new Date(after); found.length < count;) {
    const next = nextTick({ cron, timezone }, at)
    if (next === undefined) break
    found.push(next.toISOString().replace(':00.000Z', 'Z'))
    at = next
  }
  return found
}

test('a pattern is read in its time zone', () => {
  expect(ticks('0 9 * * *', 'Europe/Berlin', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T08:00Z'])
  expect(ticks('0 9 * * *', 'Europe/Berlin', '2026-07-01T00:00:00Z', 1)).toEqual(['2026-07-01T07:00Z'])
  expect(ticks('0 9 * * *', 'America/New_York', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T14:00Z'])
  expect(ticks('0 9 * * 1-5', 'UTC', '2026-05-01T10:00:00Z', 2)).toEqual(['2026-05-04T09:00Z', '2026-05-05T09:00Z'])
})

// Europe/Berlin: on 29 March 2026 02:00 is followed by 03:00; on 25 October 03:00 by 02:00.
// America/New_York: on 8 March 2026 02:00 is followed by 03:00; on 1 November 02:00 by 01:00.
test.each([
  ['Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:30Z', '2026-03-31T00:30Z']],
  ['America/New_York', '2026-03-07T12:00:00Z', ['2026-03-08T07:00Z', '2026-03-09T06:30Z', '2026-03-10T06:30Z']],
])('in %s a time that the clock skips in spring ticks once, after the gap', (timezone, after, expected) => {
  expect(ticks('30 2 * * *', timezone, after, 3)).toEqual(expected)
})

test.each([
  ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
  ['America/New_York', '30 1 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
])('in %s a time that occurs twice in autumn ticks once, the first time', (timezone, cron, after, expected) => {
  expect(ticks(cron, timezone, after, 2)).toEqual(expected)
})

test('other times of those days are unaffected', () => {
  expect(ticks('0 9 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 1)).toEqual(['2026-03-29T07:00Z'])
  expect(ticks('0 9 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 1)).toEqual(['2026-10-25T08:00Z'])
  expect(ticks('0 3 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 1)).toEqual(['2026-03-29T01:00Z'])
})

test.each([
  ['Europe/Berlin', '2026-03-29T00:00:00Z'],
  ['Europe/Berlin', '2026-10-24T23:00:00Z'],
  ['America/New_York', '2026-03-08T06:00:00Z'],
  ['America/New_York', '2026-11-01T04:00:00Z'],
])('a half-hourly pattern continues through the change of clocks in %s (%s)', (timezone, after) => {
  const found = ticks('*/30 * * * *', timezone, after, 8).map((tick) => Date.parse(tick))
  const expected = Array.from({ length: 8 }, (_, index) => Date.parse(after) + (index + 1) * 1_800_000)
  expect(found).toEqual(expected)
})

test('the ticks between two times are the same forwards and backwards, even where clocks change', () => {
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata')
  const patterns = fc.constantFrom(
    '30 2 * * *',
    '0 * * * *',
    '*/20 1-3 * * *',
    '15 0 1 * *',
    '0 0 */6 * * *',
    '59 59 23 * * 0',
    '30 1 29 3 *',
  )
  const change = fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01')
  const around = fc.integer({ min: -90_000, max: 90_000 })
  const lasting = fc.integer({ min: 1, max: 100_000 })
  fc.assert(
    fc.property(zones, patterns, change, around, lasting, (timezone, cron, day, offsetS, lastingS) => {
      const pattern = { cron, timezone }
      const upTo = new Date(Date.parse(day) + offsetS * 1_000 + 500)
      const after = new Date(upTo.getTime() - lastingS * 1_000)
      const forth: Date[] = []
      for (let at = after; ;) {
        const next = nextTick(pattern, at)
        if (next === undefined || next > upTo) break
        forth.push(next)
        at = next
      }
      expect(ticksBetween(pattern, after, upTo, 1_000)).toEqual(forth)
      expect(ticksBetween(pattern, after, upTo, 2)).toEqual(forth.slice(-2))
    }),
    { numRuns: 300 },
  )
})

const dayMs = 86_400_000
const [sweepFrom, sweepTo] = [Date.UTC(2020, 0, 1), Date.UTC(2041, 0, 1)]

function daysWhere(isDay: (day: Date) => boolean): string[] {
  const days = Array.from({ length: (sweepTo - sweepFrom) / dayMs }, (_, day) => new Date(sweepFrom + day * dayMs))
  return days.filter(isDay).map((day) => day.toISOString().slice(0, 10))
}

test.each<[string, (day: Date) => boolean]>([
  ['0 0 1 * MON', (day) => day.getUTCDate() === 1 || day.getUTCDay() === 1],
  ['0 0 1,2 * FRI', (day) => day.getUTCDate() <= 2 || day.getUTCDay() === 5],
  ['0 0 30 * SUN', (day) => day.getUTCDate() === 30 || day.getUTCDay() === 0],
  ['0 0 1 * +MON', (day) => day.getUTCDate() === 1 && day.getUTCDay() === 1],
  ['0 0 29 * *', (day) => day.getUTCDate() === 29],
])('%s ticks on every day from 2020 to 2040 that it names, and on no other', (cron, isDay) => {
  const found: string[] = []
  for (let at = new Date(sweepFrom - 1_000); ;) {
    const tick = nextTick({ cron, timezone: 'UTC' }, at)
    if (tick === undefined || tick.getTime() >= sweepTo) break
    found.push(tick.toISOString().slice(0, 10))
    at = tick
  }
  expect(found).toEqual(daysWhere(isDay))
})

test('a tick counts in the second it names', () => {
  const each = { cron: '* * * * * *', timezone: 'UTC' }
  const [before, tick] = [new Date(1_699_999_999_000), new Date(1_700_000_000_000)]
  expect(ticksBetween(each, before, tick, 5)).toEqual([tick])
  expect(ticksBetween(each, before, new Date(1_700_000_000_999), 5)).toEqual([tick])
  expect(ticksBetween(each, tick, new Date(1_700_000_000_999), 5)).toEqual([])
  expect(nextTick(each, new Date(1_700_000_000_000))).toEqual(new Date(1_700_000_001_000))
})

test.each(['', 'x', '* * * *', '* * * * * * *', '61 * * * *', '0 0 30 2 *', '2030-01-01T00:00:00', '@never', 5, null])(
  '%s is not a pattern',
  (cron) => expect(cronProblem(cron)).toBeTypeOf('string'),
)

test.each(['* * * * *', '*/5 * * * * *', '0 9 * * MON-FRI', '0 0 L * *', '@daily'])('%s is a pattern', (cron) => {
  expect(cronProblem(cron)).toBeUndefined()
})

test.each(['Mars/Base', '', '+02:00', 'Europe', 5])('%s is not a time zone', (timezone) => {
  expect(timezoneProblem(timezone)).toBeTypeOf('string')
})

test.each(['UTC', 'Europe/Berlin', 'America/New_York'])('%s is a time zone', (timezone) => {
  expect(timezoneProblem(timezone)).toBeUndefined()
})
