/**
 * Waits for the ends of runs or of workflows. All waits of a process share one LISTEN session and one poll
 * (completion-listener.ts).
 *
 * The order matters: listen, mark the run as awaited, read it. A settle that sees the mark sends a wake; one that committed
 * before the mark is found by the read. The poll finds the rest: a settle in flight at that time, a lost wake, a listener that
 * could not be opened. A broken connection does not end a wait: the next poll marks and reads again. Every other database
 * error does. Waits that begin together share a mark and a read, and so do ends that arrive together: the cost
 * grows with statements in flight, not with waits.
 */
import { isExplained, isTerminal } from '@q/schema'
import {
  createBatcher,
  isAboutConnection,
  type Ended,
  type EndedWake,
  type RunId,
  type RunView,
  type Store,
} from '@q/store'
import { queueClosed } from './closed-guard.ts'
import type { CompletionListener } from './completion-listener.ts'
import type { Explain } from './explain.ts'

/** Receives what each read found; undefined if the run or workflow does not exist. */
export interface Watcher<View> {
  onView(view: View | undefined): void
  /** The last call: nothing follows an error. */
  onError(reason: unknown): void
}

export interface Waits<Id, View> {
  /** Resolves when the run or workflow has ended; with undefined if it does not exist. Rejects with the signal's reason. */
  until(id: Id, signal: AbortSignal): Promise<View | undefined>
  /** Reports each view to the watcher until the returned function is called. */
  watch(id: Id, watcher: Watcher<View>, signal: AbortSignal): () => void
  /** The error of the last poll; undefined if it succeeded. */
  problem(): unknown
  close(): void
}

/** How to wait for one kind of thing. */
export interface Awaitable<Id, View> {
  /** Requests a wake for the end of each. */
  mark(ids: readonly Id[]): Promise<void>
  read(ids: readonly Id[]): Promise<readonly View[]>
  endedIn(wake: EndedWake): readonly Ended<Id>[]
  isOver(view: View): boolean
}

export function runsToWaitFor(store: Store): Awaitable<RunId, RunView> {
  return {
    mark: (ids) => store.awaitTaskRuns(ids),
    read: (ids) => store.getTaskRuns(ids),
    endedIn: (wake) => wake.runs,
    isOver: (run) => isTerminal(run.status),
  }
}

const readAtOnceMax = 1_000

export interface WaitDeps {
  readonly listener: CompletionListener
  readonly explain: Explain
}

export function createWaits<Id extends string, View extends { readonly id: Id }>(
  { listener, explain }: WaitDeps,
  kind: Awaitable<Id, View>,
): Waits<Id, View> {
  const watching = new Map<Id, Set<Watcher<View>>>()
  /** Waits whose mark was not written because the connection broke. */
  const unmarked = new Set<Id>()
  let problem: unknown
  const closed = new AbortController()

  const begins = createBatcher<Id, void>(async (ids) => {
    await listener.open()
    await kind.mark([...new Set(ids)])
    await look(ids)
    return []
  }, readAtOnceMax)

  const ends = createBatcher<Id, void>(async (ids) => {
    await look(ids)
    return []
  }, readAtOnceMax)

  listener.subscribe({
    isWaiting: () => watching.size > 0,
    async check() {
      for (const id of takeAll(unmarked)) if (watching.has(id)) begin(id)
      await look([...watching.keys()]).catch((error: unknown) => (problem = error))
    },
    onEnded(wake) {
      for (const { id } of kind.endedIn(wake)) if (watching.has(id)) ends.add(id).catch(() => {})
    },
  })

  function begin(id: Id): void {
    begins.add(id).catch(async (error: unknown) => {
      problem = error
      if (!isExplained(error) && isAboutConnection(error)) return void unmarked.add(id)
      const reason = await explain(error)
      for (const watcher of watching.get(id) ?? []) watcher.onError(reason)
    })
  }

  async function look(ids: readonly Id[]): Promise<void> {
    for (let start = 0; start < ids.length; start += readAtOnceMax) {
      const part = new Set(ids.slice(start, start + readAtOnceMax))
      const found = new Map((await kind.read([...part])).map((view) => [view.id, view]))
      problem = undefined
      for (const id of part) for (const watcher of watching.get(id) ?? []) watcher.onView(found.get(id))
    }
  }

  function watch(id: Id, watcher: Watcher<View>, callerSignal: AbortSignal): () => void {
    const signal = AbortSignal.any([callerSignal, closed.signal])
    const fail = () => watcher.onError(signal.reason)
    if (signal.aborted) {
      fail()
      return () => {}
    }
    signal.addEventListener('abort', fail, { once: true })
    const all = watching.get(id) ?? new Set()
    watching.set(id, all.add(watcher))
    listener.update()
    begin(id)
    return () => {
      signal.removeEventListener('abort', fail)
      all.delete(watcher)
      if (all.size === 0) watching.delete(id)
      listener.update()
    }
  }

  return {
    watch,
    until: (id, signal) => untilOver(kind, (watcher) => watch(id, watcher, signal)),
    problem: () => problem,
    close: () => closed.abort(queueClosed()),
  }
}

/** Empties the set and returns its members. */
function takeAll<T>(set: Set<T>): readonly T[] {
  const all = [...set]
  set.clear()
  return all
}

function untilOver<View>(
  kind: Pick<Awaitable<never, View>, 'isOver'>,
  watch: (watcher: Watcher<View>) => () => void,
): Promise<View | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<View | undefined>()
  const unwatch = watch({
    onView(view) {
      if (view === undefined || kind.isOver(view)) resolve(view)
    },
    onError: reject,
  })
  return promise.finally(unwatch)
}
