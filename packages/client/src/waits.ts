/**
 * Everybody in this process who waits for a run or a workflow, or follows it, shares one LISTEN session and one poll
 * behind it (ears.ts). This is one kind of them.
 *
 * We listen first, then mark the run as awaited, then look. Settling sees the mark and sends a wake, or was committed
 * before we looked; one that was under way just then, a wake that was lost, and a listener that cannot be had are what
 * the poll is for: it finds every end. A broken connection, even right after it opened, does not end the wait:
 * the next poll marks and looks again. Any other error of the database ends it. Those who come together are marked and looked at together, and so are ends that
 * are told together: what waiting costs grows with statements in flight, not with waiters.
 */
import { isExplained, isTerminal } from '@q/schema'
import { createBatcher, isAboutConnection, type RunId, type RunView, type Store } from '@q/store'
import { queueClosed } from './closed.ts'
import type { Ears, EndedWake } from './ears.ts'
import type { Explain } from './explain.ts'

/** Told what a look found; undefined: there is no such run or workflow. */
export interface Watcher<View> {
  see(view: View | undefined): void
  /** It is told nothing more. */
  fail(reason: unknown): void
}

export interface Waits<Id, View> {
  /** Resolves with what has ended; undefined if there is no such thing. Rejects with the signal's reason. */
  until(id: Id, signal: AbortSignal): Promise<View | undefined>
  /** Until the answer is called. */
  watch(id: Id, watcher: Watcher<View>, signal: AbortSignal): () => void
  /** The error of the last poll; undefined: the database answered. */
  problem(): unknown
  close(): void
}

/** What can be waited for. */
export interface Awaitable<Id, View> {
  /** From now on their ends are told. */
  mark(ids: readonly Id[]): Promise<void>
  read(ids: readonly Id[]): Promise<readonly View[]>
  endedIn(wake: EndedWake): readonly Id[]
  isOver(view: View): boolean
}

export function runsToWaitFor(store: Store): Awaitable<RunId, RunView> {
  return {
    mark: (ids) => store.awaitTaskRuns(ids),
    read: (ids) => store.getTaskRuns(ids),
    endedIn: (wake) => wake.runIds,
    isOver: (run) => isTerminal(run.status),
  }
}

const readAtOnceMax = 1_000

export interface WaitDeps {
  readonly ears: Ears
  readonly explain: Explain
}

export function createWaits<Id extends string, View extends { readonly id: Id }>(
  { ears, explain }: WaitDeps,
  kind: Awaitable<Id, View>,
): Waits<Id, View> {
  const watching = new Map<Id, Set<Watcher<View>>>()
  /** Waits whose mark was not written, because the connection broke. */
  const unmarked = new Set<Id>()
  let problem: unknown
  const closed = new AbortController()

  const begins = createBatcher<Id, void>(async (ids) => {
    await ears.open()
    await kind.mark([...new Set(ids)])
    await look(ids)
    return []
  }, readAtOnceMax)

  const ends = createBatcher<Id, void>(async (ids) => {
    await look(ids)
    return []
  }, readAtOnceMax)

  ears.join({
    isWaiting: () => watching.size > 0,
    async look() {
      for (const id of takeUnmarked()) begin(id)
      await look([...watching.keys()]).catch((error: unknown) => (problem = error))
    },
    heard(wake) {
      for (const id of kind.endedIn(wake)) if (watching.has(id)) ends.add(id).catch(() => {})
    },
  })

  function begin(id: Id): void {
    begins.add(id).catch(async (error: unknown) => {
      problem = error
      if (!isExplained(error) && isAboutConnection(error)) return void unmarked.add(id)
      const reason = await explain(error)
      for (const watcher of watching.get(id) ?? []) watcher.fail(reason)
    })
  }

  function takeUnmarked(): readonly Id[] {
    const ids = [...unmarked].filter((id) => watching.has(id))
    unmarked.clear()
    return ids
  }

  async function look(ids: readonly Id[]): Promise<void> {
    for (let start = 0; start < ids.length; start += readAtOnceMax) {
      const part = new Set(ids.slice(start, start + readAtOnceMax))
      const found = new Map((await kind.read([...part])).map((view) => [view.id, view]))
      problem = undefined
      for (const id of part) for (const watcher of watching.get(id) ?? []) watcher.see(found.get(id))
    }
  }

  function watch(id: Id, watcher: Watcher<View>, wish: AbortSignal): () => void {
    const signal = AbortSignal.any([wish, closed.signal])
    const fail = () => watcher.fail(signal.reason)
    if (signal.aborted) {
      fail()
      return () => {}
    }
    signal.addEventListener('abort', fail, { once: true })
    const all = watching.get(id) ?? new Set()
    watching.set(id, all.add(watcher))
    ears.update()
    begin(id)
    return () => {
      signal.removeEventListener('abort', fail)
      all.delete(watcher)
      if (all.size === 0) watching.delete(id)
      ears.update()
    }
  }

  return {
    watch,
    until(id, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<View | undefined>()
      const see = (view: View | undefined) => {
        if (view === undefined || kind.isOver(view)) resolve(view)
      }
      const leave = watch(id, { see, fail: reject }, signal)
      return promise.finally(leave)
    },
    problem: () => problem,
    close: () => closed.abort(queueClosed()),
  }
}
