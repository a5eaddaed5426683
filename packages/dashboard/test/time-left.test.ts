import { expect, test } from 'vitest'
import { isContinued, timeLeftMs } from '../src/pages/run/time-left.ts'

test('a run is as fast as its progress since its start', () => {
  expect(timeLeftMs(1_000, { progress: 0.25, at: 11_000 }, 11_000)).toBe(30_000)
})

test('the time left shrinks between two heartbeats, and is zero when the run exceeds its estimate', () => {
  const reported = { progress: 0.5, at: 10_000 }
  expect(timeLeftMs(0, reported, 10_000)).toBe(10_000)
  expect(timeLeftMs(0, reported, 16_000)).toBe(4_000)
  expect(timeLeftMs(0, reported, 21_000)).toBe(0)
})

test('there is no estimate before a tenth of the way', () => {
  expect(timeLeftMs(0, { progress: 0.09, at: 10_000 }, 10_000)).toBeUndefined()
  expect(timeLeftMs(0, { progress: 0.1, at: 10_000 }, 10_000)).toBe(90_000)
})

test('an attempt continues only from a checkpoint of an earlier attempt', () => {
  const attempt = (fence: number) => ({ fence }) as Parameters<typeof isContinued>[0]['attempts'][number]
  const run = { fence: 2 }
  expect(isContinued({ run, checkpointText: '{}', attempts: [attempt(1), attempt(2)] })).toBe(true)
  expect(isContinued({ run, checkpointText: null, attempts: [attempt(1), attempt(2)] })).toBe(false)
  expect(isContinued({ run, checkpointText: '{}', attempts: [attempt(2)] })).toBe(false)
})
