/**
 * A thread's life: it is served runs in batches and executes one after the other. Piscina gives each thread this one job;
 * it resolves never, and ends with the thread.
 *
 * A run begins here by one compare-and-exchange in the ring (ring-layout.ts), so the main thread can withdraw a run that
 * has not begun. The thread asks its port for more runs before it signals that none is left: a batch may be waiting there.
 * Between runs it regularly lets the event loop turn, for timers and sockets that code has left open.
 */
import { readlinkSync } from 'node:fs'
import { receiveMessageOnPort, threadId, type MessagePort } from 'node:worker_threads'
import type { FromThread, RunOrder, RunReport, ToThread } from '../protocol.ts'
import { isPastFenceDeadline, pulseSlot } from '../pulse-layout.ts'
import { endByMessage, endWithResult, mustSignal, tryBegin, tryDecline, type Ring } from '../ring-layout.ts'
import { decodeBatch } from '../thread-batch.ts'
import type { ThreadLine } from './main-line.ts'
import type { ThreadPulse, WorkerPulse } from './pulse.ts'

export interface ServeDeps {
  readonly ring: Ring
  readonly port: MessagePort
  readonly line: ThreadLine
  readonly pulse: ThreadPulse
  readonly memory: SharedArrayBuffer
  readonly slot: number
  /** Calls the code of the run. */
  readonly execute: (order: RunOrder, openPulse: () => WorkerPulse) => Promise<RunReport>
}

/** At most so long without a turn of the event loop between two runs. */
const turnEveryMs = 10

export function serve(deps: ServeDeps): Promise<never> {
  const { port, line } = deps
  const inbox = createInbox(port, line)
  const slot = pulseSlot(deps.memory, deps.slot)
  let busy = false
  line.connect(port)
  line.send({ kind: 'hello', threadId, osThreadId: osThreadId() })
  port.on('message', (message: ToThread) => {
    inbox.receive(message)
    if (!busy) void work()
  })
  return new Promise(() => {})

  async function work(): Promise<void> {
    busy = true
    let turnedMs = performance.now()
    for (let order = inbox.next(); order !== undefined; order = inbox.next()) {
      if (order.fenced && isPastFenceDeadline(slot)) tryDecline(deps.ring, order.seq)
      else if (tryBegin(deps.ring, order.seq)) await execute(order)
      if (mustSignal(deps.ring, inbox.isEmpty)) line.send(signal)
      if (performance.now() - turnedMs < turnEveryMs) continue
      await eventLoopTurn()
      turnedMs = performance.now()
    }
    busy = false
  }

  async function execute(order: RunOrder): Promise<void> {
    const { ring } = deps
    const { seq } = order
    const beganMs = performance.now()
    const report = await deps.execute(order, () => deps.pulse.begin(order))
    const tookMs = performance.now() - beganMs
    const isPlain = report.ended === 'returned' && report.repaired.length === 0 && !line.hasSaid(seq)
    if (isPlain && endWithResult(ring, seq, tookMs, report.result)) return
    line.send({ kind: 'report', seq, report })
    endByMessage(ring, seq, tookMs)
  }
}

const signal: FromThread = { kind: 'signal' }

interface Inbox {
  receive(message: ToThread): void
  /** The next run, also one whose message has not been delivered yet. */
  next(): RunOrder | undefined
  isEmpty(): boolean
}

function createInbox(port: MessagePort, line: Pick<ThreadLine, 'answered'>): Inbox {
  let orders: RunOrder[] = []
  let at = 0
  function receive(message: ToThread): void {
    if (!Array.isArray(message)) return line.answered(message as Exclude<ToThread, readonly unknown[]>)
    if (at === orders.length) {
      orders = []
      at = 0
    }
    decodeBatch(message, orders)
  }
  function isEmpty(): boolean {
    while (at === orders.length) {
      const received = receiveMessageOnPort(port)
      if (received === undefined) return true
      receive(received.message)
    }
    return false
  }
  return { receive, isEmpty, next: () => (isEmpty() ? undefined : orders[at++]) }
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** By which the kernel knows this thread; Linux alone tells it. */
function osThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}
