import { expect, test } from 'vitest'
import { createClockWatch } from '../src/main/clock-watch.ts'
import { createOwnPresence } from '../src/main/presence.ts'
import { createTrust } from '../src/main/trust.ts'

test('trust grows with beats that were accepted one after the other', () => {
  const trust = createTrust(10)
  expect(trust.goodForMs(0)).toBe(0)
  for (let nowMs = 0; nowMs <= 100; nowMs += 10) trust.beatAccepted(nowMs)
  expect(trust.goodForMs(105)).toBe(105)
  expect(trust.silentForMs(105)).toBe(5)
})

test('a failed beat begins it again', () => {
  const trust = createTrust(10)
  trust.beatAccepted(0)
  trust.beatAccepted(10)
  trust.beatFailed()
  expect(trust.goodForMs(11)).toBe(0)
  trust.beatAccepted(20)
  expect(trust.goodForMs(25)).toBe(5)
})

test('a gap that only a stopped process explains begins it again, also before the next beat', () => {
  const trust = createTrust(10)
  trust.beatAccepted(0)
  trust.beatAccepted(10)
  expect(trust.goodForMs(5_000)).toBe(0)
  trust.beatAccepted(5_000)
  expect(trust.goodForMs(5_001)).toBe(1)
})

test('time that the monotonic clock slept through counts as silence, and ends trust', () => {
  const trust = createTrust(10)
  trust.beatAccepted(0)
  trust.beatAccepted(10)
  trust.clockJumped(60_000)
  expect(trust.goodForMs(11)).toBe(0)
  expect(trust.silentForMs(11)).toBe(60_001)
})

test('a stopped process and a suspended machine are seen at the next look; a clock that is set back is not taken for one', () => {
  const clock = createClockWatch(250)
  const wall = 1_700_000_000_000
  expect(clock.look(0, wall)).toBeUndefined()
  expect(clock.look(260, wall + 260)).toBeUndefined()
  expect(clock.look(10_510, wall + 10_510)).toEqual({ stoppedMs: 10_000, asleepMs: 0 })
  expect(clock.look(10_760, wall + 3_610_760)).toEqual({ stoppedMs: 3_600_000, asleepMs: 3_600_000 })
  expect(clock.look(11_010, wall)).toBeUndefined()
})

test('a replica without its session is exposed until a beat has withdrawn its record, or the server’s life has ended', () => {
  const presence = createOwnPresence()
  presence.lost(0)
  expect(presence.exposedForMs(10)).toBeUndefined() // it never had one
  presence.held()
  presence.lost(10)
  presence.lost(15)
  expect(presence.exposedForMs(30)).toBe(20)
  expect(presence.mustWithdraw()).toBe(true)
  presence.withdrawn(30)
  expect(presence.exposedForMs(30)).toBeUndefined()
  presence.held()
  presence.withdrawn(30) // of a beat that was sent before
  expect(presence.isHeld()).toBe(true)
  presence.lost(40)
  presence.serverLifeEnded()
  expect(presence.exposedForMs(60_000)).toBeUndefined()
  expect(presence.mustWithdraw()).toBe(true)
})

test('a session that is lost while a beat withdraws the record of the one before has a record of its own to withdraw', () => {
  const presence = createOwnPresence()
  presence.held(0)
  presence.lost(10)
  const sentMs = 20
  presence.held(25)
  presence.lost(30)
  presence.withdrawn(sentMs)
  expect(presence.mustWithdraw()).toBe(true)
  expect(presence.exposedForMs(40)).toBe(15)
  presence.withdrawn(40)
  expect(presence.mustWithdraw()).toBe(false)
})

test('a session that breaks while it is opened does not make others forget the one that was lost before', () => {
  const presence = createOwnPresence()
  presence.held(0)
  presence.lost(10)
  presence.entering(1_000)
  expect([presence.isHeld(), presence.mustWithdraw(), presence.exposedForMs(1_500)]).toEqual([false, true, 1_500])
  presence.lost(1_600)
  expect(presence.exposedForMs(1_750)).toBe(1_750)
  presence.withdrawn(1_800)
  expect([presence.mustWithdraw(), presence.exposedForMs(2_000)]).toEqual([false, undefined])
})

test('what is withdrawn while a session is opened is the record of the one before; its own is withdrawn if it breaks', () => {
  const presence = createOwnPresence()
  presence.held(0)
  presence.lost(10)
  presence.entering(20)
  presence.withdrawn(30)
  expect([presence.mustWithdraw(), presence.exposedForMs(5_000)]).toEqual([false, undefined])
  presence.lost(40)
  expect([presence.mustWithdraw(), presence.exposedForMs(50)]).toEqual([true, 20])
})
