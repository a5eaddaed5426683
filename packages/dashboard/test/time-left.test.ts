import { expect, test } from 'vitest'
import { timeLeftMs } from '../src/pages/run/time-left.ts'

test('a first attempt is as fast as its progress since its start', () => {
  expect(timeLeftMs({ progress: 0, at: 1_000 }, 0.25, 11_000)).toBe(30_000)
})

test('an attempt that goes on from an earlier one is as fast as the progress that it made itself', () => {
  expect(timeLeftMs({ progress: 0.5, at: 1_000 }, 0.75, 11_000)).toBe(10_000)
})

test('there is no estimate before a tenth of the way, without own progress, or at the end', () => {
  expect(timeLeftMs({ progress: 0, at: 0 }, 0.09, 10_000)).toBeUndefined()
  expect(timeLeftMs({ progress: 0.9, at: 0 }, 0.905, 10_000)).toBeUndefined()
  expect(timeLeftMs({ progress: 0.5, at: 0 }, 0.5, 10_000)).toBeUndefined()
  expect(timeLeftMs({ progress: 0.5, at: 0 }, 1, 10_000)).toBeUndefined()
})
