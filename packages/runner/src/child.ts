/**
 * What a child process runs (`isolation: 'process'`, and runs under suspicion): one worker thread with the same entry
 * as any other, and a main thread that only relays. So a busy loop beats and is aborted here as in the runner itself,
 * memory can be watched while the code is busy, and the process notices at once that its runner is gone.
 *
 * Law: it never outlives its runner. Whatever it started is in its process group, and dies with it. It also stops a run that
 * other replicas may start once the run's fence deadline has passed: a runner that hangs cannot send a stop.
 */
import { boundOutput } from './bounded-output.ts'
import { relayEveryMs, type FromChild, type Relayed, type ToChild } from './child-protocol.ts'
import { fencedGraceMs } from './main/fence-bound.ts'
import { after, startLoop, type Next } from './main/loop.ts'
import { createPulseBoard, type Pulse } from './main/pulse-board.ts'
import { startThreads, type ThreadPool } from './main/thread-pool.ts'
import type { Answer, RunReport } from './protocol.ts'
import { sharedClockMs } from './pulse-layout.ts'

const megabyte = 1_048_576
/** Node itself, its main thread and the loaded modules. */
const ownMb = 128

const pulseBoard = createPulseBoard(1)
let threads: ThreadPool | undefined
let memoryLimitMb: number | null = null
let relayed = ''
/** Whether other replicas may start the run that is executing. */
let isFenced = false
/** To the thread: there is one. */
let reply: (answer: Answer) => void = () => {}

process.on('message', (message: ToChild) => {
  switch (message.kind) {
    case 'setup':
      return void begin(message)
    case 'run':
      return void execute(message)
    case 'extend':
      for (const pulse of pulseBoard.all()) pulse.setFenceDeadline(message.fenceDeadlineMs)
      return
    case 'abort':
      for (const pulse of pulseBoard.all()) pulse.stop(message.reason)
      return
    case 'answer':
      return reply(message.answer)
  }
})
process.on('disconnect', dieWithAllOfIt)
for (const stream of [process.stdout, process.stderr]) boundOutput(stream)
// The runner decides when it ends: a signal to the whole group of a terminal is not meant for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

async function begin(setup: Extract<ToChild, { kind: 'setup' }>): Promise<void> {
  memoryLimitMb = setup.memoryLimitMb
  threads = startThreads({ threads: 1, memoryLimitMb }, { taskModules: setup.taskModules, pulse: pulseBoard.memory })
  startLoop({ tick: watch, onError: dieWithAllOfIt })
  await threads.describe()
  tell({ kind: 'ready' })
}

async function execute({ order, fenceDeadlineMs }: Extract<ToChild, { kind: 'run' }>): Promise<void> {
  const { runId, fence, task, fenced } = order
  const facts = {
    lease: { runId: runId as never, fence },
    task,
    isolation: 'process',
    timeoutMs: null,
    maxSilentMs: null,
  } as const
  const pulse = pulseBoard.open(facts, 0, performance.now())
  isFenced = fenced
  pulse.setFenceDeadline(fenceDeadlineMs)
  // Never terminated from here: the runner kills the process.
  const running = threads?.run(
    { ...order, seq: pulse.seq },
    {
      pulse,
      terminate: new AbortController().signal,
      hear(said, answer) {
        reply = answer
        tell({ kind: 'said', said })
      },
    },
  )
  if (running === undefined) throw new Error('A run was sent before the setup.')
  pulse.measureBy(running.measure)
  const report = await running.report
  relay(pulse)
  pulse.close()
  tell({ kind: 'report', report, spent: memoryLimitMb !== null && usedMb() > ownMb })
}

function watch(): Promise<Next> {
  for (const pulse of pulseBoard.all()) {
    relay(pulse)
    stopPastFenceDeadline(pulse)
  }
  const nowMb = usedMb()
  if (memoryLimitMb !== null && nowMb > memoryLimitMb + ownMb) {
    const detail = `The process used ${nowMb} MB; its limit is ${memoryLimitMb} MB and ${ownMb} MB for Node itself.`
    reportAndDie({ ended: 'crashed', code: 'OUT_OF_MEMORY', detail })
  }
  return Promise.resolve(after(relayEveryMs))
}

/** Stops the run, and ends the process after the grace that a replica gives when it is cut off. */
function stopPastFenceDeadline(pulse: Pulse): void {
  const overMs = isFenced ? sharedClockMs() - pulse.fenceDeadlineMs() : 0
  if (overMs > 0) pulse.stop('cut off from the database')
  if (overMs > fencedGraceMs) reportAndDie({ ended: 'aborted', reason: 'cut off from the database' })
}

let dying = false

/** Ends the process once the report is sent. A runner that hangs does not take it; the second call ends the process at once. */
function reportAndDie(report: RunReport): void {
  if (dying) dieWithAllOfIt()
  dying = true
  process.send?.({ kind: 'report', report, spent: true } satisfies FromChild, dieWithAllOfIt)
}

function usedMb(): number {
  return Math.round(process.memoryUsage.rss() / megabyte)
}

/** Only what has changed. */
function relay(pulse: Pulse): void {
  const { ticks, signs } = pulse.counts()
  const { cpuMs = 0, heapMb = null, eventLoopUse = null } = pulse.measured() ?? {}
  const now: Relayed = {
    beganAtMs: pulse.beganAtMs(),
    ticks,
    signs,
    noticed: pulse.noticed(),
    ...pulse.news(),
    cpuMs,
    heapMb,
    eventLoopUse,
  }
  const text = JSON.stringify(now)
  if (text === relayed) return
  relayed = text
  tell({ kind: 'pulse', ...now })
}

function tell(message: FromChild): void {
  process.send?.(message)
}

function dieWithAllOfIt(): void {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}
