/**
 * Spans of runs that ended, recorded once per epoch by the replica whose write ended the run: the last holder, or the
 * one that recovered it. All of their data is read from the database, so this replica needs no state about attempts of
 * others.
 *
 * An observer: it may lose a run, for example when the replica dies, and no run waits for it. The SDK is in the threads, so one
 * of them records the spans.
 */
import type { EndedTrace, RunId, Store } from '@q/store'
import { observeAll, type Observe } from './events.ts'
import type { ThreadFeed } from './executors/thread-feed.ts'
import { after, atOnce, whenWoken, type Loop, type Next, type StartLoop } from './loop.ts'

export interface RunSpanDeps {
  readonly store: Pick<Store, 'endedTraces'>
  readonly replicaId: string
  readonly feeds: readonly Pick<ThreadFeed, 'load' | 'traceRuns'>[]
}

interface RunSpans {
  readonly observe: Observe
  /** Reads and records one batch. */
  tick(): Promise<Next>
  /** Called when the first run of a batch has ended. */
  onWaiting(wake: () => void): void
}

const batchMax = 500
/** The most runs that wait for their spans; a run that ends beyond this gets none. */
const waitingMax = 10_000
const everyMs = 250

function createRunSpans({ store, replicaId, feeds }: RunSpanDeps): RunSpans {
  /** The last holder by run: a run that another replica has started again has not ended. */
  const waiting = new Map<RunId, string>()
  let idle = false
  let wake = () => {}

  function add(runId: RunId, holder: string): void {
    if (waiting.size < waitingMax) waiting.set(runId, holder)
    if (idle) wake()
    idle = false
  }

  return {
    onWaiting: (given) => void (wake = given),
    observe(event) {
      if (event.type === 'run-ended') add(event.runId, replicaId)
      if (event.type === 'runs-recovered') for (const runId of event.runIds) add(runId, event.holder)
    },
    async tick() {
      const batch = [...waiting].slice(0, batchMax).map(([runId, holder]) => ({ runId, holder }))
      idle = batch.length === 0
      if (idle) return whenWoken
      for (const { runId } of batch) waiting.delete(runId)
      record(feeds, await store.endedTraces(batch))
      return waiting.size >= batchMax ? atOnce : after(everyMs)
    },
  }
}

/** On the thread with the fewest runs: it reads the message soonest. */
function record(feeds: RunSpanDeps['feeds'], endedRuns: readonly EndedTrace[]): void {
  if (endedRuns.length === 0) return
  for (const feed of feeds.toSorted((a, b) => a.load() - b.load())) if (feed.traceRuns({ endedRuns })) return
}

export interface RunSpanLoop {
  readonly observe: Observe
  /** Records what has ended until now. */
  stop(): Promise<void>
}

export function startRunSpans(
  deps: RunSpanDeps & { readonly startLoop: StartLoop; readonly observe: Observe },
): RunSpanLoop {
  const spans = createRunSpans(deps)
  const loop: Loop = deps.startLoop('run-spans', spans.tick)
  spans.onWaiting(loop.wake)
  return {
    observe: observeAll([deps.observe, spans.observe]),
    async stop() {
      await loop.stop()
      await spans.tick()
    },
  }
}
