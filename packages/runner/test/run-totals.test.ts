import { emptyTally, type RunTally } from '@q/store'
import { expect, test } from 'vitest'
import { createRunTotals } from '../src/main/stats/run-totals.ts'

const tally = (task: string, more: Partial<RunTally> = {}): RunTally => ({ ...emptyTally('default', task), ...more })

test('totals are what flushes took and what none has taken yet', () => {
  const totals = createRunTotals()
  totals.add([tally('a', { started: 2, succeeded: 1, duration: [0, 1], busyMs: 2 })])
  totals.add([tally('a', { succeeded: 1, duration: [1] })])
  expect(totals.read([tally('a', { started: 1 }), tally('b', { started: 5 })])).toEqual([
    tally('a', { started: 3, succeeded: 2, duration: [1, 1], busyMs: 2 }),
    tally('b', { started: 5 }),
  ])
})

test('a total never falls, although a run that was withdrawn is no longer counted as started', () => {
  const totals = createRunTotals()
  const started = { started: 1, waitMs: 4, wait: [0, 1] }
  expect(totals.read([tally('a', started)])).toMatchObject([started])
  totals.add([tally('a', { started: 0, waitMs: 0, wait: [0, 0] })])
  expect(totals.read([])).toMatchObject([started])
  expect(totals.read([tally('a', { started: 2, waitMs: 9, wait: [1, 1] })])).toMatchObject([
    { started: 2, wait: [1, 1] },
  ])
})

test('200 pairs of queue and task keep their names, and later ones count as other', () => {
  const totals = createRunTotals()
  totals.add(Array.from({ length: 250 }, (_, task) => tally(`t${task}`, { started: 1 })))
  totals.add([{ ...tally('new', { started: 1 }), queue: 'late' }])
  const read = totals.read([tally('t0', { started: 1 }), tally('t249', { started: 1 })])
  expect(read).toHaveLength(202)
  const started = new Map(read.map((one) => [`${one.queue} ${one.task}`, one.started]))
  expect(started.get('default t0')).toBe(2)
  expect(started.get('default other')).toBe(51)
  expect(started.get('other other')).toBe(1)
})
