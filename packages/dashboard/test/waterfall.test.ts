import { expect, test } from 'vitest'
import type { RunDetail } from '../src/api/run-contract.ts'
import { waterfallOf } from '../src/pages/run/waterfall.ts'

const at = (s: number) => new Date(s * 1_000).toISOString()
const none = { code: null, detail: null, hostname: null, pid: null, thread: null, epoch: 1 }

function detail(parts: { run?: object; attempts?: object[]; recoveries?: object[]; events?: object[] }): RunDetail {
  const run = {
    createdAt: at(0),
    runAt: at(0),
    status: 'RUNNING',
    finishedAt: null,
    claimedAt: null,
    replicaId: 'b',
    waitingOn: 0,
    ...parts.run,
  }
  return { attempts: [], recoveries: [], events: [], ...parts, run } as unknown as RunDetail
}

const first = {
  ...none,
  fence: 1,
  attempt: 1,
  outcome: 'crashed',
  startedAt: at(71),
  endedAt: at(114),
  replicaId: 'a',
  replicaName: 'eu-3',
}
const second = {
  ...none,
  fence: 3,
  attempt: 2,
  outcome: 'running',
  startedAt: at(115),
  endedAt: null,
  replicaId: 'b',
  replicaName: 'eu-1',
}

test('a run that was lost shows the wait, the work until its last sign, and the time to recover', () => {
  const lost = { fence: 1, at: at(114), beatAgeMs: 4_000 }
  const fall = waterfallOf(detail({ attempts: [first, second], recoveries: [lost] }), 320_000)
  expect(fall.rows).toEqual([
    {
      label: 'attempt 1',
      node: 'eu-3',
      bars: [
        { kind: 'ready', from: 0, to: 71_000 },
        { kind: 'running', from: 71_000, to: 110_000 },
        { kind: 'lost', from: 110_000, to: 114_000 },
      ],
    },
    {
      label: 'attempt 2',
      node: 'eu-1',
      bars: [
        { kind: 'ready', from: 114_000, to: 115_000 },
        { kind: 'running', from: 115_000, to: 320_000 },
      ],
    },
  ])
  expect([fall.from, fall.to]).toEqual([0, 320_000])
})

test('the time before a run was due is not counted as ready', () => {
  const run = { runAt: at(60), status: 'AVAILABLE' }
  expect(waterfallOf(detail({ run }), 90_000).rows[0]?.bars).toEqual([
    { kind: 'gate', from: 0, to: 60_000 },
    { kind: 'ready', from: 60_000, to: 90_000 },
  ])
})

test('a run that ended before it was due, or before its parents did, is not shown as ready', () => {
  const barsOf = (run: object) => waterfallOf(detail({ run: { finishedAt: at(30), ...run } }), 90_000).rows[0]?.bars
  const heldBack = [{ kind: 'gate', from: 0, to: 30_000 }]
  expect(barsOf({ status: 'EXPIRED', runAt: at(60) })).toEqual(heldBack)
  expect(barsOf({ status: 'SKIPPED' })).toEqual(heldBack)
  expect(barsOf({ status: 'CANCELLED', waitingOn: 2 })).toEqual(heldBack)
})

test('a run that ended without an attempt has one row', () => {
  const run = { status: 'EXPIRED', finishedAt: at(30) }
  const fall = waterfallOf(detail({ run }), 90_000)
  expect(fall.rows).toEqual([{ label: 'never ran', node: null, bars: [{ kind: 'ready', from: 0, to: 30_000 }] }])
  expect(fall.to).toBe(30_000)
})

test('clocks that disagree never draw a bar backwards', () => {
  const early = { ...second, startedAt: at(100) }
  const bars = waterfallOf(detail({ attempts: [first, early] }), 320_000).rows.flatMap((row) => row.bars)
  expect(bars.every(({ from, to }) => to > from)).toBe(true)
})

test('refused writes are marks', () => {
  const events = [
    { kind: 'refused-beat', at: at(140) },
    { kind: 'claim-released', at: at(3) },
  ]
  expect(waterfallOf(detail({ attempts: [second], events }), 320_000).marks).toEqual([
    { at: 140_000, words: 'refused heartbeat' },
  ])
})
