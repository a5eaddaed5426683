/**
 * The main loop of a worker thread: it receives runs in batches and executes one after the other. Piscina gives each
 * thread this one job, which never resolves and ends with the thread.
 *
 * A run begins here by one compare-and-exchange in the ring (ring-layout.ts), so the main thread can withdraw a run that
 * has not begun. The thread asks its port for more runs before it signals that none is left: a batch may be waiting there.
 * Between runs it regularly lets the event loop turn, for timers and sockets that code has left open.
 */
import { readlinkSync } from 'node:fs'
import { receiveMessageOnPort, threadId, type MessagePort } from 'node:worker_threads'
import type { ContextReply, EndedRuns, FromThread, RunCommand, RunReport, ToThread } from '../protocol/messages.ts'
import { ownClocks } from '../protocol/own-clocks.ts'
import { isPastFenceDeadline, slotMemoryAt } from '../protocol/slot-layout.ts'
import { endByMessage, endWithResult, mustSignal, tryBegin, tryDecline, type Ring } from '../protocol/ring-layout.ts'
import { decodeBatch } from '../protocol/batch-encoding.ts'
import type { ThreadChannel } from './main-thread-channel.ts'
import type { ThreadSlot, RunSlot } from './run-slot.ts'

export interface ServeDeps {
  readonly ring: Ring
  readonly port: MessagePort
  readonly channel: ThreadChannel
  readonly threadSlot: ThreadSlot
  readonly memory: SharedArrayBuffer
  readonly slot: number
  /** Calls the code of the run. */
  readonly execute: (command: RunCommand, openSlot: () => RunSlot) => Promise<RunReport>
  /** Records the spans of runs that ended. */
  readonly traceRuns: (ended: EndedRuns) => void
}

/** The longest time for which runs follow each other without a turn of the event loop. */
const turnEveryMs = 10

export function serve(deps: ServeDeps): Promise<never> {
  const { port, channel } = deps
  const inbox = createInbox(port, { onReply: channel.onReply, traceRuns: deps.traceRuns })
  const slot = slotMemoryAt(deps.memory, deps.slot)
  let busy = false
  channel.connect(port)
  channel.post({ kind: 'handshake', threadId, osThreadId: osThreadId() })
  port.on('message', (message: ToThread) => {
    inbox.receive(message)
    if (!busy) void work()
  })
  return new Promise(() => {})

  async function work(): Promise<void> {
    busy = true
    let turnedMs = ownClocks.threadMs()
    for (let command = inbox.next(); command !== undefined; command = inbox.next()) {
      if (command.fenced && isPastFenceDeadline(slot)) tryDecline(deps.ring, command.seq)
      else if (tryBegin(deps.ring, command.seq)) await execute(command)
      if (mustSignal(deps.ring, inbox.isEmpty)) channel.post(signal)
      if (ownClocks.threadMs() - turnedMs < turnEveryMs) continue
      await eventLoopTurn()
      turnedMs = ownClocks.threadMs()
    }
    busy = false
  }

  async function execute(command: RunCommand): Promise<void> {
    const { ring } = deps
    const { seq } = command
    const beganMs = ownClocks.threadMs()
    const report = await deps.execute(command, () => deps.threadSlot.begin(command))
    const tookMs = ownClocks.threadMs() - beganMs
    const isPlain = report.ended === 'returned' && report.repaired.length === 0 && !channel.hasSent(seq)
    if (isPlain && endWithResult(ring, seq, tookMs, report.result)) return
    channel.post({ kind: 'report', seq, report })
    endByMessage(ring, seq, tookMs)
  }
}

const signal: FromThread = { kind: 'signal' }

interface Inbox {
  receive(message: ToThread): void
  /** The next run, also one whose message has not been delivered yet. */
  next(): RunCommand | undefined
  isEmpty(): boolean
}

function createInbox(
  port: MessagePort,
  { onReply, traceRuns }: Pick<ThreadChannel, 'onReply'> & Pick<ServeDeps, 'traceRuns'>,
): Inbox {
  let commands: RunCommand[] = []
  let at = 0
  function receive(message: ToThread): void {
    if (!Array.isArray(message)) return 'endedRuns' in message ? traceRuns(message) : onReply(message as ContextReply)
    if (at === commands.length) {
      commands = []
      at = 0
    }
    decodeBatch(message, commands)
  }
  function isEmpty(): boolean {
    while (at === commands.length) {
      const received = receiveMessageOnPort(port)
      if (received === undefined) return true
      receive(received.message)
    }
    return false
  }
  return { receive, isEmpty, next: () => (isEmpty() ? undefined : commands[at++]) }
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => ownClocks.setImmediate(resolve))
}

/** The thread id of the operating system; only Linux reports it. */
function osThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}
