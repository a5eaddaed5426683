import { expect, test } from 'vitest'
import { createSuspensionDetector } from '../src/main/liveness/suspension-detector.ts'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'

test('the streak grows with each accepted beat', () => {
  const streak = createBeatStreak(10)
  expect(streak.unbrokenForMs(0)).toBe(0)
  for (let nowMs = 0; nowMs <= 100; nowMs += 10) streak.beatAccepted(nowMs)
  expect(streak.unbrokenForMs(105)).toBe(105)
  expect(streak.silentForMs(105)).toBe(5)
})

test('a failed beat restarts the streak', () => {
  const streak = createBeatStreak(10)
  streak.beatAccepted(0)
  streak.beatAccepted(10)
  streak.beatFailed()
  expect(streak.unbrokenForMs(11)).toBe(0)
  streak.beatAccepted(20)
  expect(streak.unbrokenForMs(25)).toBe(5)
})

test('a gap that only a stopped process explains restarts the streak, even before the next beat', () => {
  const streak = createBeatStreak(10)
  streak.beatAccepted(0)
  streak.beatAccepted(10)
  expect(streak.unbrokenForMs(5_000)).toBe(0)
  streak.beatAccepted(5_000)
  expect(streak.unbrokenForMs(5_001)).toBe(1)
})

test('time that the monotonic clock did not count is silence, and breaks the streak', () => {
  const streak = createBeatStreak(10)
  streak.beatAccepted(0)
  streak.beatAccepted(10)
  streak.suspended(60_000)
  expect(streak.unbrokenForMs(11)).toBe(0)
  expect(streak.silentForMs(11)).toBe(60_001)
})

test('the next check detects a stopped process and a suspended machine, and does not take a clock that is set back for one', () => {
  const clock = createSuspensionDetector()
  const wall = 1_700_000_000_000
  expect(clock.check(0, wall, 250)).toBeUndefined()
  expect(clock.check(260, wall + 260, 250)).toBeUndefined()
  expect(clock.check(10_510, wall + 10_510, 250)).toEqual({ stoppedMs: 10_000, asleepMs: 0 })
  expect(clock.check(10_760, wall + 3_610_760, 250)).toEqual({ stoppedMs: 3_600_000, asleepMs: 3_600_000 })
  expect(clock.check(11_010, wall, 250)).toBeUndefined()
})

test('a replica without its session is exposed until a beat has withdrawn its record, or the server has restarted', () => {
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

test('a session that breaks while it is being opened does not hide that an earlier one was lost', () => {
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

test('a withdrawal while a session is being opened removes the record of the previous session; the new record is withdrawn if the new session breaks', () => {
  const presence = createOwnPresence()
  presence.held(0)
  presence.lost(10)
  presence.entering(20)
  presence.withdrawn(30)
  expect([presence.mustWithdraw(), presence.exposedForMs(5_000)]).toEqual([false, undefined])
  presence.lost(40)
  expect([presence.mustWithdraw(), presence.exposedForMs(50)]).toEqual([true, 20])
})
