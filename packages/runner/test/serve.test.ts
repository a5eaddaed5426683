/** The thread's side of the ring, without a thread. */
import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { FromThread, RunCommand, RunReport } from '../src/protocol/messages.ts'
import { createSlotMemory, slotMemoryAt, sharedClockMs } from '../src/protocol/slot-layout.ts'
import {
  createRing,
  putWaiting,
  resultOf,
  setSignalEnds,
  stateOf,
  takeSignal,
  tryWithdraw,
} from '../src/protocol/ring-layout.ts'
import { encodeBatch } from '../src/protocol/batch-encoding.ts'
import { createThreadChannel } from '../src/thread/main-thread-channel.ts'
import { serve } from '../src/thread/serve.ts'

const one: RunReport = { ended: 'returned', result: '1', repaired: [] }

/** What the code of run `seq` does. */
type Code = (seq: number) => RunReport | Promise<RunReport>

function served(code: Code = () => one) {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const ring = createRing()
  const memory = createSlotMemory(1)
  slotMemoryAt(memory, 0).fenceDeadline[0] = Number.POSITIVE_INFINITY
  const channel = createThreadChannel()
  const executed: number[] = []
  void serve({
    ring,
    memory,
    channel,
    slot: 0,
    port: port2,
    traceRuns: () => {},
    threadSlot: { begin: () => raise('No run here has a slot.'), [Symbol.dispose]: () => {} },
    async execute({ seq }) {
      executed.push(seq)
      return code(seq)
    },
  })
  const messages = () => {
    const received: FromThread[] = []
    for (let next = receiveMessageOnPort(port1); next !== undefined; next = receiveMessageOnPort(port1))
      received.push(next.message as FromThread)
    return received.filter(({ kind }) => kind !== 'handshake')
  }
  return {
    ring,
    channel,
    executed,
    messages,
    deadline: slotMemoryAt(memory, 0).fenceDeadline,
    handOver(...commands: RunCommand[]) {
      for (const { seq } of commands) putWaiting(ring, seq)
      port1.postMessage(encodeBatch(commands))
    },
    /** The thread is done with the run. */
    async done(seq: number) {
      while (['free', 'waiting', 'begun'].includes(stateOf(ring, seq))) await turn()
      await turn()
    },
  }
}

function command(seq: number, fenced = false): RunCommand {
  const lease = { runId: String(seq), fence: 1, epoch: 1, attempt: 1 }
  return { seq, fenced, ...lease, task: 't', payload: '{}', checkpoint: null, databaseUrl: undefined }
}

function raise(message: string): never {
  throw new Error(message)
}

test('runs are executed one after the other, in their order, and a withdrawn one is not', async () => {
  let executing = 0
  let most = 0
  const thread = served(async () => {
    most = Math.max(most, ++executing)
    await turn()
    executing--
    return one
  })
  thread.handOver(command(1), command(2), command(3))
  tryWithdraw(thread.ring, 2)
  thread.handOver(command(4))
  await thread.done(4)
  expect([thread.executed, most]).toEqual([[1, 3, 4], 1])
  expect(stateOf(thread.ring, 2)).toBe('withdrawn')
})

test('past the fence deadline a run that other replicas may start does not begin; the others do', async () => {
  const thread = served()
  thread.deadline[0] = sharedClockMs() - 1
  thread.handOver(command(1, true), command(2), command(3, true))
  await thread.done(3)
  expect(thread.executed).toEqual([2])
  expect([1, 2, 3].map((seq) => stateOf(thread.ring, seq))).toEqual(['declined', 'ended', 'declined'])
})

test('the deadline is read when a run is about to begin, not when it was handed over', async () => {
  const thread = served((seq) => {
    if (seq === 1) thread.deadline[0] = sharedClockMs() - 1
    return one
  })
  thread.handOver(command(1, true), command(2, true))
  await thread.done(2)
  expect(thread.executed).toEqual([1])
})

test.each<[string, RunReport]>([
  ['is too large for the ring', { ...one, result: JSON.stringify('x'.repeat(5_000)) }],
  ['was repaired', { ...one, repaired: ['/a'] }],
  ['is a failure', { ended: 'failed', code: 'TASK_ERROR', detail: 'It threw.' }],
])('a report that %s is sent before the ring says that the run has ended', async (_, report) => {
  const thread = served(() => report)
  thread.handOver(command(1))
  await thread.done(1)
  expect(resultOf(thread.ring, 1)).toBeUndefined()
  expect(thread.messages()[0]).toEqual({ kind: 'report', seq: 1, report })
})

test('the report of a run that has logged is sent after its lines', async () => {
  const line = { lineNo: 1, level: 30, line: 'a line', facts: null, atMs: 0 }
  const thread = served((seq) => {
    if (seq === 1) thread.channel.send(1, { kind: 'log', line })
    return one
  })
  thread.handOver(command(1), command(2))
  await thread.done(2)
  expect(thread.messages().map(({ kind }) => kind)).toEqual(['log', 'report', 'signal'])
  expect([resultOf(thread.ring, 1), resultOf(thread.ring, 2)]).toEqual([undefined, '1'])
})

test('a run that has logged ends by a message, though code of an earlier run has logged after it', async () => {
  const line = { lineNo: 1, level: 30, line: 'a line', facts: null, atMs: 0 }
  const thread = served((seq) => {
    if (seq === 2) for (const speaker of [2, 1]) thread.channel.send(speaker, { kind: 'log', line })
    return one
  })
  thread.handOver(command(1), command(2))
  await thread.done(2)
  expect([resultOf(thread.ring, 1), resultOf(thread.ring, 2)]).toEqual(['1', undefined])
})

test('a thread whose ends are not signalled signals once, when neither its batch nor its port has a run left', async () => {
  const signals: number[] = []
  const thread = served((seq) => {
    if (seq === 2) thread.handOver(command(4)) // its message waits in the port
    signals.push(thread.messages().length)
    return one
  })
  setSignalEnds(thread.ring, false)
  thread.handOver(command(1), command(2), command(3))
  tryWithdraw(thread.ring, 3)
  await thread.done(4)
  expect([thread.executed, signals]).toEqual([
    [1, 2, 4],
    [0, 0, 0],
  ])
  expect(thread.messages()).toEqual([{ kind: 'signal' }])
})

test('a thread whose last run was withdrawn signals the ends before it', async () => {
  const thread = served((seq) => {
    if (seq === 1) tryWithdraw(thread.ring, 2)
    return one
  })
  setSignalEnds(thread.ring, false)
  thread.handOver(command(1), command(2))
  const received: FromThread[] = []
  for (let exchangeBuffer = 0; exchangeBuffer < 100; exchangeBuffer++) {
    await turn()
    received.push(...thread.messages())
  }
  expect(received).toEqual([{ kind: 'signal' }])
})

test('a thread that must signal every end does so again after its signal was taken', async () => {
  const signals: number[] = []
  const thread = served(() => {
    signals.push(thread.messages().length)
    takeSignal(thread.ring)
    return one
  })
  setSignalEnds(thread.ring, true)
  thread.handOver(command(1), command(2))
  await thread.done(2)
  expect([signals, thread.messages()]).toEqual([[0, 1], [{ kind: 'signal' }]])
})
