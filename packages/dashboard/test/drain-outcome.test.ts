import { expect, test } from 'vitest'
import type { HeldRunView } from '../src/api/contract.ts'
import { drainOutcome, drainSummary, timeLeft } from '../src/pages/nodes/drain-outcome.ts'

const run: HeldRunView = {
  id: '1',
  task: 'resize',
  status: 'RUNNING',
  startedAt: null,
  forMs: 1_000,
  progress: null,
  note: null,
  expectedEndMs: null,
  cancelRequested: false,
  onCrash: 'retry',
  atDeadline: 'released',
}

test.each([
  [{ expectedEndMs: 60_000 }, 120_000, 'by-task', 'finishes'],
  [{ expectedEndMs: 180_000 }, 120_000, 'by-task', 'released'],
  [{ expectedEndMs: 180_000, onCrash: 'fail' }, 120_000, 'by-task', 'failed'],
  [{ expectedEndMs: 180_000, onCrash: 'fail' }, 120_000, 'release', 'released'],
  [{ expectedEndMs: 180_000 }, 120_000, 'fail', 'failed'],
  [{ onCrash: 'fail' }, 120_000, 'by-task', 'likely'],
  [{}, null, 'by-task', 'waits'],
  [{ cancelRequested: true }, 120_000, 'by-task', 'stopping'],
  [{ status: 'CLAIMED' }, 120_000, 'by-task', 'returned'],
] as const)('%j with a deadline of %s ms and %s %s', (facts, deadlineMs, onDeadline, kind) => {
  expect(drainOutcome({ ...run, ...facts }, deadlineMs, onDeadline).kind).toBe(kind)
})

test('the summary counts every run once', () => {
  const outcomes = [{ expectedEndMs: 1 }, { expectedEndMs: 2 }, { status: 'CLAIMED' as const }].map((facts) =>
    drainOutcome({ ...run, ...facts }, 120_000, 'by-task'),
  )
  expect(drainSummary(outcomes)).toBe('Of its 3 runs 2 finish in time, 1 goes back to its queue.')
  expect(drainSummary([])).toBe('It holds no run, so it leaves at once.')
})

test('a run that is being stopped has no time left, whatever its progress was', () => {
  const words = [{}, { expectedEndMs: 20_000 }, { expectedEndMs: 20_000, cancelRequested: true }]
  expect(words.map((facts) => timeLeft({ ...run, ...facts }).replaceAll('\u00a0', ' '))).toEqual([
    'ran 1.0 s',
    '~20 s',
    'stopping',
  ])
})
