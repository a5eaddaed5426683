import { expect, test } from 'vitest'
import { dueTicks, tickLimits, type Missed, type ScheduleState } from '@q/task'

const at = (text: string) => new Date(`2026-05-05T${text}Z`)
const times = (ticks: readonly Date[]) => ticks.map((tick) => tick.toISOString().slice(11, 19))

function due(cron: string, seenUntil: Date, now: Date, more: Partial<ScheduleState> = {}) {
  const { ticks, next } = dueTicks({ cron, timezone: 'UTC', missed: 'one', seenUntil, nextTick: null, ...more }, now)
  return { ticks: times(ticks), next: next?.toISOString().slice(11, 19) }
}

test('nothing is due before its time', () => {
  expect(due('0 9 * * *', at('08:00:00'), at('08:59:59'))).toEqual({ ticks: [], next: '09:00:00' })
})

test('a tick is due in its second, and never again once it is handled', () => {
  expect(due('0 9 * * *', at('08:00:00'), at('09:00:00'))).toEqual({ ticks: ['09:00:00'], next: '09:00:00' })
  expect(due('0 9 * * *', at('09:00:00'), at('09:00:00.900')).ticks).toEqual([])
})

const policies: readonly Missed[] = ['skip', 'one', 'all']

test.each(policies)('%s: all ticks that are less than a minute late are enqueued', (missed) => {
  const found = due('* * * * * *', at('12:00:00'), at('12:01:00'), { missed })
  expect(found.ticks).toHaveLength(60)
  expect(found.ticks.at(0)).toBe('12:00:01')
  expect(found.ticks.at(-1)).toBe('12:01:00')
})

test.each([
  ['skip', []],
  ['one', ['11:00:00']],
  ['all', ['09:00:00', '10:00:00', '11:00:00']],
] as const)('%s: ticks that were missed while no replica was running', (missed, expected) => {
  expect(due('0 * * * *', at('08:30:00'), at('11:30:00'), { missed })).toEqual({ ticks: expected, next: '12:00:00' })
})

test('one: no missed tick is enqueued if a later tick is enqueued anyway', () => {
  expect(due('0 * * * *', at('08:30:00'), at('11:00:30')).ticks).toEqual(['11:00:00'])
})

test('all: at most the newest hundred missed ticks are enqueued', () => {
  const found = due('* * * * * *', new Date(0), at('12:00:00'), { missed: 'all' })
  expect(tickLimits.missedMax).toBe(100)
  expect(found.ticks).toHaveLength(100 + 61)
  expect(found.ticks.at(-1)).toBe('12:00:00')
})

test('a tick that was due when the pattern changed is enqueued', () => {
  const changedAt = at('09:00:01')
  const owed = { nextTick: at('09:00:00') }
  expect(due('0 17 * * *', changedAt, at('09:00:02'), owed)).toEqual({ ticks: ['09:00:00'], next: '17:00:00' })
  expect(due('0 17 * * *', changedAt, at('11:00:00'), { ...owed, missed: 'skip' }).ticks).toEqual([])
})

test('a clock that was set back repeats no tick', () => {
  expect(due('0 * * * *', at('11:00:00'), at('10:30:00'))).toEqual({ ticks: [], next: '12:00:00' })
})
