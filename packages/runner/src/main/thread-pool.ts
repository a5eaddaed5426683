/**
 * The worker threads. The only file that knows Piscina, which starts, replaces and ends them.
 *
 * Each thread has one job of Piscina for its life: it is served runs through its feed (thread-feed.ts), so that a thread
 * can be chosen and a run costs no job of its own. When a thread dies its job rejects, and the next thread gets the feed.
 * Piscina reports an aborted job before its thread has exited; the feed hears of it only when the thread is really gone,
 * because until then the code may still act.
 *
 * The pool ends the programs that runs have started (a thread may wait for one in `execFileSync`) when it closes and when
 * the process exits, unless the process is killed.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Description, FromThread, RunReport, ThreadJob, WorkerSetup } from '../protocol.ts'
import { pause } from './loop.ts'
import { endPrograms, startedByThread } from './process-tree.ts'
import type { Measured } from './pulse-board.ts'
import { createThreadFeed, type HandedRun, type OwnedFeed, type Receiver, type ThreadFeed } from './thread-feed.ts'
import { createThreadMeter, type ThreadMeter } from './thread-meter.ts'
import type { Terms, Workplace } from './workplace.ts'

export interface ThreadPool extends Workplace {
  /** Rejects when the thread that loads the task modules dies of it. Threads are served runs afterwards. */
  describe(): Promise<Description>
  /** One per thread. */
  readonly feeds: readonly ThreadFeed[]
  /** Ends the thread of a run that is executing; its feed answers once the thread is gone. */
  terminate(handed: HandedRun, slot: number): void
  measure(slot: number): Measured | undefined
}

export interface ThreadOptions {
  readonly threads: number
  /** Heap of each thread; null: what Node allows. Most ways to exceed it end the whole process. */
  readonly memoryLimitMb: number | null
}

/** A thread from its hello to its end. */
interface Life {
  readonly gone: Promise<void>
  readonly osThreadId: number
  readonly meter: ThreadMeter
}

interface Served {
  readonly feed: OwnedFeed
  port: MessagePort | undefined
  life: Life | undefined
  ending: AbortController
  /** Why it is being ended: the run that must not go on. */
  terminated: HandedRun | undefined
}

export function startThreads({ threads, memoryLimitMb }: ThreadOptions, setup: WorkerSetup): ThreadPool {
  const pool = new Piscina<ThreadJob, Description>({
    filename: import.meta.resolve('@q/runner/thread'),
    workerData: setup,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    maxQueue: threads + 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default stops a thread's timers and sockets between runs.
    atomics: 'disabled',
    recordTiming: false,
    ...(memoryLimitMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } }),
  })
  pool.on('error', () => {}) // a thread that died before it was served
  let closing = false
  const isClosing = () => closing
  let serving: Promise<unknown> | undefined
  const served = Array.from({ length: threads }, (_, slot): Served => ({
    feed: createThreadFeed(slot),
    port: undefined,
    life: undefined,
    ending: new AbortController(),
    terminated: undefined,
  }))

  const startedPrograms = () =>
    served.flatMap(({ life }) => (life === undefined ? [] : startedByThread(life.osThreadId)))
  const endAll = () => endPrograms(startedPrograms())
  process.on('exit', endAll)

  function serveAll(): void {
    serving ??= Promise.all(served.map(serve))
  }

  /** One thread after the other, until the pool closes. */
  async function serve(one: Served): Promise<void> {
    let fruitless = 0
    while (!isClosing()) {
      const crash = await oneLife(one)
      fruitless = one.life === undefined ? fruitless + 1 : 0
      one.life = undefined
      // A thread that cannot even begin: its runs do not wait forever.
      if (fruitless >= livesMax) failWaiting(one, crash)
      one.feed.closed(one.terminated === undefined ? crash : { ended: 'aborted' })
      one.port?.close()
      one.terminated = undefined
      if (fruitless > 0 && !closing) await pause(restMs)
    }
  }

  /** What the thread died of. */
  async function oneLife(one: Served): Promise<RunReport> {
    const { port1, port2 } = new MessageChannel()
    one.ending = new AbortController()
    one.port = port1
    port1.on('message', (message: FromThread) => {
      if (message.kind === 'hello') one.life = lifeOf(message)
      one.feed.hear(message)
    })
    port1.unref()
    const { memory } = one.feed.open(port1)
    const job: ThreadJob = { kind: 'serve', slot: one.feed.slot, ring: memory, port: port2 }
    try {
      await pool.run(job, { transferList: [port2], signal: one.ending.signal })
      return crashReport(new Error('it ended by itself'))
    } catch (error) {
      if (one.ending.signal.aborted && one.life !== undefined) await one.life.gone
      return crashReport(error)
    }
  }

  function lifeOf({ threadId, osThreadId }: Extract<FromThread, { kind: 'hello' }>): Life | undefined {
    const worker = pool.threads.find((thread) => thread.threadId === threadId)
    return worker && { gone: untilGone(worker), osThreadId, meter: createThreadMeter(worker, osThreadId) }
  }

  function terminate(handed: HandedRun, slot: number): void {
    const one = served[slot]
    if (one?.feed.makeLast(handed) !== true) return
    one.terminated = handed
    one.ending.abort()
  }

  const measure = (slot: number) => served[slot]?.life?.meter.measure()

  return {
    feeds: served.map(({ feed }) => feed),
    terminate,
    measure,
    async describe() {
      const description = await pool.run({ kind: 'describe' })
      serveAll()
      return description
    },
    run(order, terms) {
      serveAll()
      const { slot } = terms.pulse
      const feed = served[slot]?.feed
      if (feed === undefined) throw new Error(`There is no thread for slot ${slot}.`)
      const { promise, resolve } = Promise.withResolvers<RunReport>()
      const handed = { order, receiver: receiverOf(feed, terms, resolve) }
      terms.terminate.addEventListener('abort', () => terminate(handed, slot))
      feed.handOver([handed])
      return { report: promise, measure: () => measure(slot) }
    },
    async close() {
      closing = true
      const before = startedPrograms()
      const destroyed = pool.destroy()
      // After the threads: the code of a thread that waited for a program must not continue.
      endPrograms([...before, ...startedPrograms()])
      await destroyed
      await serving
      process.off('exit', endAll)
    },
  }
}

/** For a run that is executed alone: it is sent to the next thread if its own dies before it has begun. */
function receiverOf(feed: ThreadFeed, { hear }: Terms, resolve: (report: RunReport) => void): Receiver {
  let sends = 1
  return {
    ended: (_, report) =>
      resolve(typeof report === 'string' ? { ended: 'returned', result: report, repaired: [] } : report),
    returned(handed, why) {
      if (why === 'declined') resolve({ ended: 'aborted', reason: 'cut off from the database' })
      else if (sends++ < sendsMax) feed.handOver([handed])
      else resolve(crashReport(new Error('no thread could begin it')))
    },
    said: (_, said, reply) => hear(said, reply),
  }
}

function failWaiting({ feed }: Served, crash: RunReport): void {
  for (const handed of feed.waiting()) if (feed.withdraw(handed)) handed.receiver.ended(handed, crash, 0)
}

/** Never rejects: a thread that is being ended may run out of memory before it is gone. */
export function untilGone(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.once('exit', () => resolve())
  return promise
}

/** A thread that cannot even begin is not tried for ever. */
const livesMax = 3
const sendsMax = 3
const restMs = 200

function crashReport(error: unknown): RunReport {
  const message = error instanceof Error ? error.message : String(error)
  const outOfMemory = error instanceof Error && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
  return outOfMemory
    ? { ended: 'crashed', code: 'OUT_OF_MEMORY', detail: `The worker thread ran out of memory: ${message}` }
    : { ended: 'crashed', code: 'WORKER_CRASHED', detail: `The worker thread died: ${message}` }
}
