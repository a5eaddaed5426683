import { describe, expect, test } from 'vitest'
import { optionData, type TaskOptions } from '@q/task'
import { createStartAhead, type StartAheadOptions } from '../src/main/dispatch/start-ahead.ts'

const tasks: Readonly<Record<string, TaskOptions>> = {
  again: { onCrash: 'retry' },
  apart: { isolation: 'process' },
  one: { startAhead: 1 },
  few: { startAhead: 3 },
  many: { startAhead: 1_000 },
}

function startAheadOf(more: Partial<StartAheadOptions> = {}) {
  const startAhead = createStartAhead({
    startAheadMs: 25,
    startAheadRetryMax: 10,
    startAheadFailMax: 5,
    onCrash: 'fail',
    optionsOf: (task) => optionData(tasks[task] ?? {}),
    ...more,
  })
  /** How many runs of the task one thread is handed. */
  const batch = (task: string) => {
    const load = { runs: 0, ms: 0 }
    for (; startAhead.fits(load, task) && load.runs < 5_000; load.runs++) load.ms += startAhead.expectedMs(task)
    return load.runs
  }
  const after = (task: string, tookMs: number) => {
    startAhead.record(task, tookMs)
    return batch(task)
  }
  return { ...startAhead, batch, after }
}

test('a task whose duration is not known is not started ahead, and nothing waits behind it', () => {
  const { batch, fits, record, expectedMs } = startAheadOf()
  expect(batch('task')).toBe(1)
  record('short', 1)
  expect(fits({ runs: 1, ms: expectedMs('task') }, 'short')).toBe(false)
})

test.each([
  [1, 25],
  [5, 5],
  [24, 2],
  [26, 2],
  [50, 2],
  [51, 1],
  [1_000, 1],
])('runs of %d ms: as many as the window holds, one more near its length, none ahead for longer ones', (ms, runs) => {
  expect(startAheadOf({ startAheadFailMax: 100 }).after('task', ms)).toBe(runs)
})

describe('the number of runs is bounded', () => {
  test.each([
    ['task', 5, 'tasks that must not be started twice by the lower one'],
    ['again', 10, 'tasks that are retried after a crash by the higher one'],
    ['few', 3, 'a task can lower it'],
    ['many', 5, 'and not raise it'],
    ['one', 1, 'a task can switch it off'],
    ['apart', 1, 'runs in child processes are never started ahead'],
  ])('%s: %d, because %s', (task, runs) => {
    expect(startAheadOf().after(task, 0.01)).toBe(runs)
  })

  test('a replica whose default is to retry applies the higher one', () => {
    expect(startAheadOf({ onCrash: 'retry' }).after('task', 0.01)).toBe(10)
  })

  test('the bound counts the runs of all tasks that the thread has been handed', () => {
    const { fits, record } = startAheadOf()
    record('task', 0.01)
    expect([4, 5].map((runs) => fits({ runs, ms: 1 }, 'task'))).toEqual([true, false])
  })
})

test('the mean duration decides: one slow run changes little, many change it', () => {
  const { record, batch, expectedMs } = startAheadOf({ startAheadFailMax: 100 })
  for (let runs = 0; runs < 50; runs++) record('task', 1)
  record('task', 17)
  expect(expectedMs('task')).toBeCloseTo(2, 1)
  expect(batch('task')).toBeGreaterThan(10)
  for (let runs = 0; runs < 100; runs++) record('task', 100)
  expect(batch('task')).toBe(1)
})

test('a long run never waits behind a short one', () => {
  const { record, fits } = startAheadOf()
  record('short', 1)
  record('long', 1_000)
  expect([fits({ runs: 1, ms: 1 }, 'long'), fits({ runs: 0, ms: 0 }, 'long')]).toEqual([false, true])
})
