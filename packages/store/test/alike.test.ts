import { expect, test } from 'vitest'
import type { NewRun } from '@q/store'
import { areAlike } from '../src/runs/alike.ts'

const run: NewRun = { task: 'resize', lane: 1, payload: {} }

/** A value that `run` does not have, for every field. */
const others: Required<Omit<NewRun, 'payload'>> = {
  task: 'encode',
  lane: 2,
  delayMs: 0,
  runAt: new Date(),
  expiresInMs: 1,
  priority: 1,
  group: 'g',
  maxAttempts: 2,
  timeoutMs: 1,
  maxSilentMs: 1,
  onCrash: 'retry',
  uniqueKey: 'k',
  uniqueForMs: 1,
  throttle: { key: 'k', forMs: 1 },
  debounce: { key: 'k', forMs: 1, maxMs: 1 },
  concurrency: { scope: 's', key: 'k' },
  trace: 't',
}

test.each(Object.entries(others))('runs that differ in %s are not alike', (field, value) => {
  expect(areAlike(run, { ...run, [field]: value })).toBe(false)
  expect(areAlike({ ...run, [field]: value }, { ...run, [field]: value })).toBe(true)
})

test('runs that differ in their payloads are alike', () => {
  expect(areAlike(run, { ...run, payload: { url: 'x' } })).toBe(true)
})
