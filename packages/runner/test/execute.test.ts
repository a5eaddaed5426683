/** One run from claimed to settled, with stops at every point; the test sets the responses of the store. */
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ExplainedError } from '@q/schema'
import { fingerprintOf, type RunId, type SettleAnswer, type Settlement, type Store } from '@q/store'
import { optionData, type TaskOptions } from '@q/task'
import { executeRun, type ExecuteDeps } from '../src/main/execute/execute.ts'
import type { RunMonitor } from '../src/main/liveness/run-monitor.ts'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { createSlots } from '../src/main/dispatch/slots.ts'
import { createRunCounts } from '../src/main/stats/run-counts.ts'
import { createStepInputs, type StepInputs } from '../src/main/execute/step-inputs.ts'
import type { ExecuteOptions, Executor } from '../src/main/executors/executor.ts'
import type { RunReport } from '../src/protocol/messages.ts'
import { slotMemoryAt, word } from '../src/protocol/slot-layout.ts'
import { startedRun } from './threads-scene.ts'

const claimed = startedRun('1', { task: 'next', payload: '{"of":null}', gated: true, step: true })

type Report = (options: ExecuteOptions, memory: SharedArrayBuffer) => Promise<RunReport>

/** A replica with one slot. */
function replica(
  inputs: (stop: () => void) => ReturnType<StepInputs>,
  answers: SettleAnswer[] = [],
  report: Report = async () => ({ ended: 'returned', result: '1', repaired: [] }),
  options: TaskOptions = {},
  store: Partial<Store> = {},
) {
  const runMonitors = createRunMonitors(1)
  const slots = createSlots(1)
  const sent: string[] = []
  const settled: Settlement[] = []
  const observed: string[] = []
  const due: number[] = []
  const executor: Executor = {
    run(command, executeOptions) {
      sent.push(command.payload)
      return { report: report(executeOptions, runMonitors.memory), measure: () => undefined }
    },
    close: async () => {},
  }
  const deps: ExecuteDeps = {
    slots,
    runMonitors,
    executors: { threads: executor, processes: executor },
    databaseUrl: undefined,
    stepInputs: () => inputs(() => runMonitors.all()[0]?.stop('cancelled')),
    settlements: {
      async add(settlement) {
        settled.push(settlement)
        return answers.shift() ?? 'settled'
      },
    },
    requests: () => Promise.reject(new Error('no requests expected')),
    logs: { add: () => {}, written: async () => {} },
    store: store as Store,
    host: { hostname: 'h', pid: 1 },
    optionsOf: () => optionData(options),
    limits: { timeoutMs: null, maxSilentMs: null, noEvidenceMs: Number.POSITIVE_INFINITY },
    stopGraceMs: 3_600_000,
    onDeadline: () => 'by-task',
    nowMs: () => 0,
    counts: createRunCounts({ version: '1', count: () => {} }),
    dueIn: (inMs) => void due.push(inMs),
    observe: (event) => void observed.push('status' in event ? `${event.type} ${event.status}` : event.type),
  }
  return { sent, settled, observed, due, slots, execute: () => executeRun(deps, claimed, slots.take()) }
}

test('a step starts with the results of its parents', async () => {
  const { execute, sent, settled } = replica(async () => '{"of":1}')
  await execute()
  expect(sent).toEqual(['{"of":1}'])
  expect(settled).toMatchObject([{ outcome: { status: 'SUCCEEDED' } }])
})

test.each([
  ['its inputs are being read', async () => '{"of":1}'],
  ['its inputs cannot be read', () => Promise.reject(new Error('the connection broke'))],
])('a step that is stopped while %s never begins, and ends with the reason of the stop', async (_, read) => {
  const { execute, sent, settled, slots } = replica((stop) => {
    stop()
    return read()
  })
  await execute()
  expect(sent).toEqual([])
  expect(settled).toMatchObject([{ outcome: { status: 'CANCELLED', code: 'TASK_CANCELLED' } }])
  expect(slots.busy()).toBe(0)
})

/** Code that has noticed the stop and cleans up forever; it ends when its thread does. */
const cleansUp =
  (stop: (monitor: RunMonitor) => void): Report =>
  async ({ monitor, terminate }, memory) => {
    Atomics.store(slotMemoryAt(memory, monitor.slot).words, word.noticed, 1)
    setImmediate(stop, monitor)
    await once(terminate, 'abort')
    return { ended: 'aborted' }
  }

const cutOff = 'cut off from the database'

test.each<[string, (monitor: RunMonitor) => void, string]>([
  ['stopped for that', (monitor) => monitor.stop(cutOff), 'WORKER_CRASHED'],
  [
    'being stopped for something else',
    (monitor) => {
      monitor.stop('timed out')
      monitor.cutShort()
    },
    'TIMEOUT',
  ],
])(
  'a run that others may soon start is gone before they start it, whatever its grace to clean up: %s',
  async (_, stop, code) => {
    const { execute, settled } = replica(async () => '1', [], cleansUp(stop))
    await execute()
    expect(settled).toMatchObject([{ outcome: { status: 'FAILED', code } }])
  },
)

const unreadable = new ExplainedError({ code: 'INVALID_PAYLOAD', what: 'Too much.', why: 'It is.', fix: 'Less.' })

test('a step whose inputs cannot be built fails with the reason, even if attempts are left', async () => {
  const { execute, sent, settled } = replica(async () => unreadable)
  await execute()
  expect(sent).toEqual([])
  expect(settled.map(({ outcome }) => outcome)).toEqual([
    {
      status: 'FAILED',
      code: 'INVALID_PAYLOAD',
      detail: 'Too much. It is.',
      fingerprint: fingerprintOf(['INVALID_PAYLOAD', 'next']),
    },
  ])
})

test('it fails alone: the other steps of its batch are started', async () => {
  const inputs = createStepInputs({
    async stepPayloads(runIds) {
      if (runIds.includes('2' as RunId)) throw unreadable
      return new Map(runIds.map((id) => [id, `"of ${id}"`]))
    },
  })
  const runs = ['1', '2', '3'].map((runId) => ({ ...claimed, runId: runId as RunId }))
  expect(await Promise.all(runs.map(inputs))).toEqual(['"of 1"', unreadable, '"of 3"'])
})

test.each<[string, SettleAnswer, number[]]>([
  ['a retry says how soon the run is due at the earliest', 'retried', [7_500]],
  ['a retry without attempts left says nothing', 'settled', []],
])('%s', async (_, answer, expected) => {
  const { execute, due } = replica(
    async () => '{}',
    [answer],
    async () => ({ ended: 'failed', code: 'TASK_ERROR', detail: 'no' }),
    { retry: { attempts: 3, delay: '10s', maxDelay: '1h' } },
  )
  await execute()
  expect(due).toEqual(expected)
})

test('an outcome that the database rejects is replaced; if it rejects the replacement too, the write is retried with backoff', async () => {
  const { execute, settled, observed } = replica(async () => '1', ['refused', 'refused', 'settled'])
  await execute()
  const unstorable = { status: 'FAILED', code: 'INVALID_RESULT' }
  expect(settled.map(({ outcome }) => outcome)).toMatchObject([{ status: 'SUCCEEDED' }, unstorable, unstorable])
  expect(observed).toEqual(['run-started', 'settle-failed', 'run-ended FAILED'])
})

test.each<[Awaited<ReturnType<Store['snoozeTaskRun']>>, string, number[]]>([
  ['snoozed', 'run-retried', [5]],
  ['cancelled', 'run-ended CANCELLED', []],
  ['lease-lost', 'lease-lost', []],
])('a run that asks to be called later is reported as the database answers: %s', async (answer, reported, later) => {
  const snoozed: Report = async () => ({ ended: 'snoozed', afterMs: 5 })
  const calls: unknown[][] = []
  const snoozeTaskRun: Store['snoozeTaskRun'] = async (...given) => {
    calls.push(given)
    return answer
  }
  const { execute, observed, due } = replica(async () => '1', [], snoozed, {}, { snoozeTaskRun })
  await execute()
  // With the time that the code ran: the history has its real start.
  expect(calls).toEqual([[{ runId: claimed.runId, fence: claimed.fence }, 5, 0]])
  expect(observed.at(-1)).toBe(reported)
  expect(due).toEqual(later)
})
