import { expect, test } from 'vitest'
import type { OnDeadline } from '@q/store'
import { decideOutcome, type Policy } from '../src/main/execute/decide-outcome.ts'
import type { RunReport } from '../src/protocol/messages.ts'
import { abortReasons, type AbortReason } from '../src/protocol/slot-layout.ts'

const policy: Policy = {
  onCrash: 'fail',
  retry: { attempts: 3, backoff: 'exponential', delayMs: 1_000, maxDelayMs: 60_000 },
  timeoutMs: 5,
  maxSilentMs: null,
  noEvidenceMs: 7,
}
const reasons = abortReasons.filter((reason): reason is AbortReason => reason !== '')
const returned: RunReport = { ended: 'returned', result: '1', repaired: [] }
const aborted: RunReport = { ended: 'aborted' }
const crashed: RunReport = { ended: 'crashed', code: 'OUT_OF_MEMORY', detail: 'd' }

function outcomeOf(
  report: RunReport,
  reason: AbortReason | undefined,
  onCrash: Policy['onCrash'] = 'fail',
  onDeadline: OnDeadline = 'by-task',
): string {
  const end = decideOutcome(report, reason, { ...policy, onCrash, onDeadline })
  if (end.kind !== 'settle') return end.kind
  return end.outcome.status === 'SUCCEEDED' ? 'SUCCEEDED' : `${end.outcome.status} ${end.outcome.code}`
}

test.each([undefined, ...reasons])('the result of the code counts even after a stop request: %s', (reason) => {
  expect(outcomeOf(returned, reason)).toBe('SUCCEEDED')
})

test.each<[AbortReason, string, string]>([
  ['cancelled', 'CANCELLED TASK_CANCELLED', 'CANCELLED TASK_CANCELLED'],
  ['lease lost', 'nothing', 'nothing'],
  ['replica draining', 'FAILED DRAINED', 'release'],
  ['cut off from the database', 'FAILED WORKER_CRASHED', 'release'],
  ['timed out', 'FAILED TIMEOUT', 'FAILED TIMEOUT'],
  ['silent for too long', 'FAILED SILENT', 'FAILED SILENT'],
  ['no evidence of life', 'FAILED SILENT', 'FAILED SILENT'],
])('stopped because %s: %s; if it may be started again: %s', (reason, fail, retry) => {
  expect(outcomeOf(aborted, reason)).toBe(fail)
  expect(outcomeOf(aborted, reason, 'retry')).toBe(retry)
  expect(outcomeOf(crashed, reason)).toBe(fail)
})

test.each<[AbortReason, string]>([
  ['timed out', 'its limit of 5 ms'],
  ['silent for too long', 'its limit of 6 ms'],
  ['no evidence of life', 'for 7 ms'],
])('the detail of a run that was stopped because %s names the limit that applied', (reason, limit) => {
  const end = decideOutcome(aborted, reason, { ...policy, maxSilentMs: 6 })
  expect(end).toMatchObject({ kind: 'settle', outcome: { detail: expect.stringContaining(limit) } })
})

test.each([
  ['by-task', 'FAILED DRAINED', 'release'],
  ['release', 'release', 'release'],
  ['fail', 'FAILED DRAINED', 'FAILED DRAINED'],
] as const)('stopped by a drain with onDeadline %s: %s; if it may be started again: %s', (onDeadline, fail, retry) => {
  expect(outcomeOf(aborted, 'replica draining', 'fail', onDeadline)).toBe(fail)
  expect(outcomeOf(aborted, 'replica draining', 'retry', onDeadline)).toBe(retry)
})

test('a run that its own thread or child stopped, because the main thread hung, ends like a run of a cut-off replica', () => {
  const itself: RunReport = { ended: 'aborted', reason: 'cut off from the database' }
  expect(outcomeOf(itself, undefined)).toBe('FAILED WORKER_CRASHED')
  expect(outcomeOf(itself, undefined, 'retry')).toBe('release')
  expect(outcomeOf(itself, 'cancelled')).toBe('CANCELLED TASK_CANCELLED')
})

test('a crash is reported to the store as a crash, so that it is counted', () => {
  expect(decideOutcome(crashed, undefined, policy)).toEqual({
    kind: 'settle',
    outcome: { status: 'FAILED', code: 'OUT_OF_MEMORY', detail: 'd', crashed: true },
  })
})

test.each<[Extract<RunReport, { ended: 'failed' }>['again'], Policy['retry']['backoff'], unknown]>([
  [undefined, 'exponential', { delayMs: 1_000, delayMsMax: 60_000 }],
  [undefined, 'fixed', { delayMs: 1_000, delayMsMax: 1_000 }],
  [{ afterMs: 300 }, 'exponential', { delayMs: 300 }],
  ['never', 'exponential', undefined],
])('a failure that says %o, backoff %s, is tried again with %o', (again, backoff, retry) => {
  const report = {
    ended: 'failed',
    code: 'TASK_ERROR',
    detail: 'd',
    ...(again === undefined ? {} : { again }),
  } as const
  const end = decideOutcome(report, undefined, { ...policy, retry: { ...policy.retry, backoff } })
  expect(end).toMatchObject({ kind: 'settle' })
  expect(end.kind === 'settle' && Reflect.get(end.outcome, 'retry')).toEqual(retry)
})
