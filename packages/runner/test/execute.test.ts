/** One run from claimed to settled, with a store that answers as told: what becomes of it when it is stopped on the way. */
import { expect, test } from 'vitest'
import type { ClaimedRun, RunId, Settled, Settlement, Store } from '@q/store'
import { optionData } from '@q/task'
import { executeRun, type ExecuteDeps } from '../src/main/execute.ts'
import { createPulseBoard } from '../src/main/pulse-board.ts'
import { createSlots } from '../src/main/slots.ts'
import type { Workplace } from '../src/main/workplace.ts'

const claimed: ClaimedRun = {
  runId: '1' as RunId,
  fence: 1,
  task: 'next',
  payload: '{"of":null}',
  attempt: 1,
  epoch: 1,
  onCrash: null,
  crashCount: 0,
  timeoutMs: null,
  maxSilentMs: null,
  keyed: false,
  gated: true,
  step: true,
  checkpoint: null,
}

/** A replica with one slot. */
function replica(inputs: (stop: () => void) => Promise<string>, answers: Settled[] = []) {
  const pulseBoard = createPulseBoard(1)
  const slots = createSlots(1)
  const sent: string[] = []
  const settled: Settlement[] = []
  const told: string[] = []
  const workplace: Workplace = {
    run(order) {
      sent.push(order.payload)
      return { report: Promise.resolve({ ended: 'returned', result: '1', repaired: [] }), measure: () => undefined }
    },
    close: async () => {},
  }
  const deps: ExecuteDeps = {
    slots,
    pulseBoard,
    workplaces: { threads: workplace, processes: workplace },
    stepInputs: () => inputs(() => pulseBoard.all()[0]?.stop('cancelled')),
    settlements: {
      async add(settlement) {
        settled.push(settlement)
        return answers.shift() ?? 'settled'
      },
    },
    requests: () => Promise.reject(new Error('nobody asks')),
    logs: { add: () => {}, written: async () => {} },
    store: {} as Store,
    host: { hostname: 'h', pid: 1 },
    optionsOf: () => optionData({}),
    onCrashOf: () => 'fail',
    limits: { timeoutMs: null, maxSilentMs: null },
    stopGraceMs: 1_000,
    nowMs: () => 0,
    count: () => {},
    observe: ({ type }) => void told.push(type),
  }
  return { sent, settled, told, slots, execute: () => executeRun(deps, claimed, slots.take()) }
}

test('a step is started with what its parents returned', async () => {
  const { execute, sent, settled } = replica(async () => '{"of":1}')
  await execute()
  expect(sent).toEqual(['{"of":1}'])
  expect(settled).toMatchObject([{ outcome: { status: 'SUCCEEDED' } }])
})

test.each([
  ['they are on their way', async () => '{"of":1}'],
  ['they cannot be read', () => Promise.reject(new Error('the connection broke'))],
])('a step that is stopped while %s never begins anywhere, and ends as what it was stopped for', async (_, read) => {
  const { execute, sent, settled, slots } = replica((stop) => {
    stop()
    return read()
  })
  await execute()
  expect(sent).toEqual([])
  expect(settled).toMatchObject([{ outcome: { status: 'CANCELLED', code: 'TASK_CANCELLED' } }])
  expect(slots.busy()).toBe(0)
})

test('an end that is refused is told in other words; refused again, it is tried later and later, not all the time', async () => {
  const { execute, settled, told } = replica(async () => '1', ['refused', 'refused', 'settled'])
  await execute()
  const unstorable = { status: 'FAILED', code: 'INVALID_RESULT' }
  expect(settled.map(({ outcome }) => outcome)).toMatchObject([{ status: 'SUCCEEDED' }, unstorable, unstorable])
  expect(told).toEqual(['run-started', 'settle-failed', 'run-ended'])
})
