/**
 * The entry of a child process (`isolation: 'process'`, and suspects of a crash): one worker thread with the same entry as
 * any other, and a main thread that only relays. So a busy loop sends heartbeats and is stopped here as in the runner
 * itself, memory can be measured while the code is busy, and the process notices at once that its runner is gone.
 *
 * Invariant: it never outlives its runner. All programs that it starts are in its process group and die with it. It also
 * stops a run that other replicas may start once the run's fence deadline has passed: a runner that hangs cannot send a stop.
 */
import { boundOutput } from '../output/bounded-output.ts'
import { relayEveryMs, type FromChild, type Relayed, type ToChild } from '../protocol/child-messages.ts'
import { fencedGraceMs } from '../main/liveness/self-fence-limits.ts'
import { after, startLoop, type Next } from '../main/loop.ts'
import type { RunMonitor } from '../main/liveness/run-monitor.ts'
import { createRunMonitors } from '../main/liveness/run-monitors.ts'
import { startThreads, type ThreadPool } from '../main/executors/thread-pool.ts'
import type { ContextReply, RunReport } from '../protocol/messages.ts'
import { sharedClockMs } from '../protocol/slot-layout.ts'

const megabyte = 1_048_576
/** Node itself, its main thread and the loaded modules. */
const ownMb = 128

const runMonitors = createRunMonitors(1)
let threads: ThreadPool | undefined
let memoryLimitMb: number | null = null
let relayed = ''
/** Whether other replicas may start the run that is executing. */
let isFenced = false
/** Sends a reply to the worker thread, of which there is one. */
let reply: (answer: ContextReply) => void = () => {}

process.on('message', (message: ToChild) => {
  switch (message.kind) {
    case 'setup':
      return void begin(message)
    case 'run':
      return void execute(message)
    case 'extend':
      for (const monitor of runMonitors.all()) monitor.setFenceDeadline(message.fenceDeadlineMs)
      return
    case 'abort':
      for (const monitor of runMonitors.all()) monitor.stop(message.reason)
      return
    case 'reply':
      return reply(message.reply)
  }
})
process.on('disconnect', killProcessGroup)
for (const stream of [process.stdout, process.stderr]) boundOutput(stream)
// The runner decides when this process ends: it ignores signals that a terminal sends to its whole process group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

async function begin(setup: Extract<ToChild, { kind: 'setup' }>): Promise<void> {
  memoryLimitMb = setup.memoryLimitMb
  threads = startThreads(
    { threads: 1, memoryLimitMb },
    { taskModules: setup.taskModules, slotMemory: runMonitors.memory },
  )
  startLoop({ tick: watch, onError: killProcessGroup })
  await threads.describe()
  tell({ kind: 'ready' })
}

async function execute({ command, fenceDeadlineMs }: Extract<ToChild, { kind: 'run' }>): Promise<void> {
  const { runId, fence, task, fenced } = command
  const facts = {
    lease: { runId: runId as never, fence },
    task,
    isolation: 'process',
    timeoutMs: null,
    maxSilentMs: null,
  } as const
  const monitor = runMonitors.open(facts, 0, performance.now())
  isFenced = fenced
  monitor.setFenceDeadline(fenceDeadlineMs)
  // Never terminated from here: the runner kills the process.
  const running = threads?.run(
    { ...command, seq: monitor.seq },
    {
      monitor,
      terminate: new AbortController().signal,
      onMessage(threadMessage, sendReply) {
        reply = sendReply
        tell({ kind: 'thread-message', threadMessage })
      },
    },
  )
  if (running === undefined) throw new Error('A run was sent before the setup.')
  monitor.measureBy(running.measure)
  const report = await running.report
  relay(monitor)
  monitor.close()
  tell({ kind: 'report', report, spent: memoryLimitMb !== null && usedMb() > ownMb })
}

function watch(): Promise<Next> {
  for (const monitor of runMonitors.all()) {
    relay(monitor)
    stopPastFenceDeadline(monitor)
  }
  const nowMb = usedMb()
  if (memoryLimitMb !== null && nowMb > memoryLimitMb + ownMb) {
    const detail = `The process used ${nowMb} MB; its limit is ${memoryLimitMb} MB and ${ownMb} MB for Node itself.`
    reportAndDie({ ended: 'crashed', code: 'OUT_OF_MEMORY', detail })
  }
  return Promise.resolve(after(relayEveryMs))
}

/** Stops the run, and ends the process after the grace that a replica gives when it is cut off. */
function stopPastFenceDeadline(monitor: RunMonitor): void {
  const overMs = isFenced ? sharedClockMs() - monitor.fenceDeadlineMs() : 0
  if (overMs > 0) monitor.stop('cut off from the database')
  if (overMs > fencedGraceMs) reportAndDie({ ended: 'aborted', reason: 'cut off from the database' })
}

let dying = false

/** Ends the process once the report is sent. A runner that hangs does not take it; the second call ends the process at once. */
function reportAndDie(report: RunReport): void {
  if (dying) killProcessGroup()
  dying = true
  process.send?.({ kind: 'report', report, spent: true } satisfies FromChild, killProcessGroup)
}

function usedMb(): number {
  return Math.round(process.memoryUsage.rss() / megabyte)
}

/** Sends only what has changed. */
function relay(monitor: RunMonitor): void {
  const { ticks, signs } = monitor.counts()
  const { cpuMs = 0, heapMb = null, eventLoopUse = null } = monitor.usage() ?? {}
  const now: Relayed = {
    beganAtMs: monitor.beganAtMs(),
    ticks,
    signs,
    noticed: monitor.noticed(),
    ...monitor.progressUpdate(),
    cpuMs,
    heapMb,
    eventLoopUse,
  }
  const text = JSON.stringify(now)
  if (text === relayed) return
  relayed = text
  tell({ kind: 'slot', ...now })
}

function tell(message: FromChild): void {
  process.send?.(message)
}

function killProcessGroup(): void {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}
