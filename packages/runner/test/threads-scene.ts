/** A dispatch whose threads are played by the test: it begins and ends runs in the rings, as a thread does. */
import { MessageChannel } from 'node:worker_threads'
import type { ClaimedRun, RunId } from '@q/store'
import { optionData, type TaskOptions } from '@q/task'
import { createDispatch, type Dispatch } from '../src/main/dispatch/dispatch.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { createHeldRuns, type HeldRuns } from '../src/main/liveness/held-runs.ts'
import type { RunWatchDeps } from '../src/main/dispatch/watch-run.ts'
import { createSignals } from '../src/main/signals.ts'
import { createThreadSlots, createThreadState } from '../src/main/dispatch/thread-state.ts'
import { createRunCounts } from '../src/main/stats/run-counts.ts'
import { createRunMonitors, type RunMonitors } from '../src/main/liveness/run-monitors.ts'
import { createStartAhead, type StartAhead } from '../src/main/dispatch/start-ahead.ts'
import type { HandedRun } from '../src/main/executors/handed-runs.ts'
import { createThreadFeed, type OwnedFeed } from '../src/main/executors/thread-feed.ts'
import { createExchangeBuffer, type ExchangeBuffer } from '../src/main/claim/exchange-buffer.ts'
import { openRunSlot, type RunSlot } from '../src/thread/run-slot.ts'
import { endWithResult, tryBegin, type Ring } from '../src/protocol/ring-layout.ts'

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
  readonly exchangeBuffer: ExchangeBuffer
  readonly heldRuns: HeldRuns
  readonly startAhead: StartAhead
  readonly runMonitors: RunMonitors
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
  const runMonitors = createRunMonitors(count)
  const threads = feeds.map((feed) => playThread(feed, runMonitors))
  const optionsOf = (task: string) => optionData(tasks[task] ?? {})
  const exchangeBuffer = createExchangeBuffer(() => {})
  const heldRuns = createHeldRuns()
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
  const execution: Partial<RunWatchDeps> = {
    runMonitors,
    optionsOf,
    databaseUrl: undefined,
    host: { hostname: 'h', pid: 1 },
    limits: { timeoutMs: null, maxSilentMs: null, noEvidenceMs: Number.POSITIVE_INFINITY },
    logs: { add: () => {}, written: async () => {} },
    nowMs: () => 0,
    stopGraceMs: 0,
    threads: { terminate: (_, slot) => void terminated.push(slot), measure: () => undefined },
    onDeadline: () => 'by-task',
    counts: createRunCounts({ version: '1', count: () => {} }),
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
  const states = feeds.map(createThreadState)
  const dispatch = createDispatch({
    threads: states,
    slots: createThreadSlots(states),
    startAhead,
    heldRuns,
    exchangeBuffer,
    runMonitors,
    execution: execution as RunWatchDeps,
    executeAlone: (run) => void begunAlone.push(run),
    processStats: { runBegan: () => {}, runEnded: () => {} },
    signals: createSignals(),
  })
  runMonitors.openBefore(() => dispatch.openMonitors())
  const scene = {
    dispatch,
    exchangeBuffer,
    heldRuns,
    startAhead,
    runMonitors,
    threads,
    begunAlone,
    settlements,
    events,
    terminated,
  }
  return {
    ...scene,
    async start(runs) {
      exchangeBuffer.awaitingSlot.push(...(await heldRuns.claiming(0, async () => [...runs])))
      dispatch.assignSlots(exchangeBuffer.awaitingSlot)
    },
  }
}

function playThread(feed: OwnedFeed, runMonitors: RunMonitors): PlayedThread {
  const { port1, port2 } = new MessageChannel()
  port1.unref()
  port2.unref()
  const ring = feed.open(port1)
  const begunSlots = new Map<HandedRun, RunSlot>()
  return {
    feed,
    ring: () => ring,
    begin() {
      const [handed] = feed.waiting()
      if (handed === undefined || !tryBegin(ring, handed.command.seq)) return undefined
      begunSlots.set(handed, openRunSlot(runMonitors.memory, feed.slot, handed.command))
      return handed
    },
    end(handed, tookMs = 1) {
      if (handed === undefined) throw new Error('No run began.')
      begunSlots.get(handed)?.[Symbol.dispose]()
      endWithResult(ring, handed.command.seq, tookMs, '1')
      feed.collect()
    },
  }
}

export function startedRun(runId: string, more: Partial<ClaimedRun> = {}): ClaimedRun {
  return {
    runId: runId as RunId,
    fence: 1,
    task: 'short',
    queue: 'default',
    waitMs: 0,
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
