/** A dispatch whose threads are played by the test: it begins and ends runs in the rings, as a thread does. */
import { MessageChannel } from 'node:worker_threads'
import type { ClaimedRun, RunId } from '@q/store'
import { optionData, type TaskOptions } from '@q/task'
import { createDispatch, type Dispatch } from '../src/main/dispatch.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { createHoldings, type Holdings } from '../src/main/holdings.ts'
import type { MonitorDeps } from '../src/main/monitor-run.ts'
import { createPulseBoard, type PulseBoard } from '../src/main/pulse-board.ts'
import { createStartAhead, type StartAhead } from '../src/main/start-ahead.ts'
import { createThreadFeed, type HandedRun, type OwnedFeed } from '../src/main/thread-feed.ts'
import { createTurns, type Turns } from '../src/main/turns.ts'
import { openPulse, type WorkerPulse } from '../src/thread/pulse.ts'
import { endWithResult, tryBegin, type Ring } from '../src/ring-layout.ts'

/** One thread, as the test plays it. */
export interface PlayedThread {
  readonly feed: OwnedFeed
  readonly ring: () => Ring
  /** The run that waits first begins. */
  begin(): HandedRun | undefined
  /** Its code returns 1 after `tookMs`. */
  end(handed: HandedRun | undefined, tookMs?: number): void
}

export interface ThreadsScene {
  readonly dispatch: Dispatch
  readonly turns: Turns
  readonly holdings: Holdings
  readonly startAhead: StartAhead
  readonly pulseBoard: PulseBoard
  readonly threads: readonly PlayedThread[]
  readonly begunAlone: ClaimedRun[]
  readonly settlements: { readonly runId: string; readonly status: string }[]
  readonly events: RunnerEvent[]
  readonly terminated: number[]
  /** The database has started these runs, and the threads are handed as many as fit. */
  start(runs: readonly ClaimedRun[]): Promise<void>
}

export interface SceneOptions {
  readonly startAheadMs?: number
  readonly failMax?: number
  readonly retryMax?: number
  readonly tasks?: Readonly<Record<string, TaskOptions>>
  /** Outcomes are written when this resolves. */
  readonly writable?: Promise<unknown>
}

export function threadsScene(count: number, options: SceneOptions = {}): ThreadsScene {
  const { startAheadMs = 25, failMax = 32, retryMax = 256, tasks = {}, writable } = options
  const feeds = Array.from({ length: count }, (_, slot) => createThreadFeed(slot))
  const pulseBoard = createPulseBoard(count)
  const threads = feeds.map((feed) => playThread(feed, pulseBoard))
  const optionsOf = (task: string) => optionData(tasks[task] ?? {})
  const turns = createTurns(() => {})
  const holdings = createHoldings()
  const startAhead = createStartAhead({
    startAheadMs,
    startAheadFailMax: failMax,
    startAheadRetryMax: retryMax,
    onCrash: 'fail',
    optionsOf,
  })
  const begunAlone: ClaimedRun[] = []
  const settlements: { runId: string; status: string }[] = []
  const events: RunnerEvent[] = []
  const terminated: number[] = []
  const execution: Partial<MonitorDeps> = {
    pulseBoard,
    optionsOf,
    databaseUrl: undefined,
    host: { hostname: 'h', pid: 1 },
    limits: { timeoutMs: null, maxSilentMs: null, noEvidenceMs: Number.POSITIVE_INFINITY },
    logs: { add: () => {}, written: async () => {} },
    nowMs: () => 0,
    stopGraceMs: 0,
    threads: { terminate: (_, slot) => void terminated.push(slot), measure: () => undefined },
    onDeadline: () => 'by-task',
    count: () => {},
    dueIn: () => {},
    observe: (event) => void events.push(event),
    settlements: {
      async add({ lease, outcome }) {
        await writable
        settlements.push({ runId: lease.runId, status: outcome.status })
        return 'settled'
      },
    },
  }
  const dispatch = createDispatch({
    feeds,
    startAhead,
    holdings,
    turns,
    pulseBoard,
    execution: () => execution as MonitorDeps,
    begin: (run) => void begunAlone.push(run),
    onHandingOver: () => {},
    vitals: { runBegan: () => {}, runEnded: () => {} },
    wake: () => {},
  })
  pulseBoard.openBefore(() => dispatch.openMonitors())
  const scene = {
    dispatch,
    turns,
    holdings,
    startAhead,
    pulseBoard,
    threads,
    begunAlone,
    settlements,
    events,
    terminated,
  }
  return {
    ...scene,
    async start(runs) {
      turns.unplaced.push(...(await holdings.claiming(0, async () => [...runs])))
      dispatch.place(turns.unplaced)
    },
  }
}

function playThread(feed: OwnedFeed, pulseBoard: PulseBoard): PlayedThread {
  const { port1, port2 } = new MessageChannel()
  port1.unref()
  port2.unref()
  const ring = feed.open(port1)
  const pulses = new Map<HandedRun, WorkerPulse>()
  return {
    feed,
    ring: () => ring,
    begin() {
      const [handed] = feed.waiting()
      if (handed === undefined || !tryBegin(ring, handed.order.seq)) return undefined
      pulses.set(handed, openPulse(pulseBoard.memory, feed.slot, handed.order))
      return handed
    },
    end(handed, tookMs = 1) {
      if (handed === undefined) throw new Error('No run began.')
      pulses.get(handed)?.[Symbol.dispose]()
      endWithResult(ring, handed.order.seq, tookMs, '1')
      feed.collect()
    },
  }
}

export function startedRun(runId: string, more: Partial<ClaimedRun> = {}): ClaimedRun {
  return {
    runId: runId as RunId,
    fence: 1,
    task: 'short',
    payload: '{}',
    attempt: 1,
    epoch: 1,
    onCrash: 'fail',
    crashCount: 0,
    timeoutMs: null,
    maxSilentMs: null,
    keyed: false,
    gated: false,
    step: false,
    checkpoint: null,
    ...more,
  }
}
