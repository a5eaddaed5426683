import { expect, test } from 'vitest'
import { createTrust } from '../src/main/trust.ts'

test('trust grows with beats that were accepted one after the other', () => {
  const trust = createTrust(10)
  expect(trust.goodForMs(0)).toBe(0)
  for (let nowMs = 0; nowMs <= 100; nowMs += 10) trust.beatAccepted(nowMs)
  expect(trust.goodForMs(105)).toBe(105)
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
