/**
 * Everybody in this process who waits for a run, or follows it, shares one LISTEN session and one poll behind it.
 *
 * We listen first, then mark the run as awaited, then look. Settling sees the mark and sends a wake, or was committed
 * before we looked; one that was under way just then, a wake that was lost, and a listener that cannot be had are what
 * the poll is for: it finds every end. Those who come together are marked and looked at together, and so are ends that
 * are told together: what waiting costs grows with statements in flight, not with waiters.
 */
import { isTerminal } from '@q/schema'
import { createBatcher, listen, type Listener, type Origin, type RunId, type RunView, type Store } from '@q/store'
import { createPoll } from './poll.ts'

/** Told what a look found; undefined: there is no such run. */
export interface Watcher {
  see(run: RunView | undefined): void
  /** It is told nothing more. */
  fail(reason: unknown): void
}

export interface Waits {
  /** Resolves with the ended run; undefined if there is no such run. Rejects with the signal's reason. */
  until(runId: RunId, signal: AbortSignal): Promise<RunView | undefined>
  /** Until the answer is called. */
  watch(runId: RunId, watcher: Watcher, signal: AbortSignal): () => void
  close(): Promise<void>
}

const readAtOnceMax = 1_000

export function createWaits(deps: { readonly store: Store; readonly origin: Origin | undefined }): Waits {
  const watching = new Map<RunId, Set<Watcher>>()
  const closed = new AbortController()
  let listening: Promise<Listener | undefined> | undefined

  const begins = createBatcher<RunId, void>(async (ids) => {
    await (listening ??= openListener())
    await deps.store.awaitTaskRuns([...new Set(ids)])
    await look(ids)
    return []
  }, readAtOnceMax)

  const ends = createBatcher<RunId, void>(async (ids) => {
    await look(ids)
    return []
  }, readAtOnceMax)

  const poll = createPoll(async () => {
    if (deps.origin !== undefined) void (listening ??= openListener())
    await look([...watching.keys()])
  })

  async function look(ids: readonly RunId[]): Promise<void> {
    for (let start = 0; start < ids.length; start += readAtOnceMax) {
      const part = new Set(ids.slice(start, start + readAtOnceMax))
      const runs = new Map((await deps.store.getTaskRuns([...part])).map((run) => [run.id, run]))
      for (const id of part) for (const watcher of watching.get(id) ?? []) watcher.see(runs.get(id))
    }
  }

  async function openListener(): Promise<Listener | undefined> {
    if (deps.origin === undefined) return undefined
    return listen(deps.origin, 'q_ended', {
      onWake(wake) {
        if (wake.channel !== 'q_ended') return
        for (const id of wake.runIds) if (watching.has(id)) ends.add(id).catch(() => {})
      },
      onLost: () => {
        listening = undefined // the next wait or poll listens again
      },
    }).catch(() => {
      listening = undefined
      return undefined
    })
  }

  function watch(runId: RunId, watcher: Watcher, wish: AbortSignal): () => void {
    const signal = AbortSignal.any([wish, closed.signal])
    const fail = () => watcher.fail(signal.reason)
    if (signal.aborted) {
      fail()
      return () => {}
    }
    signal.addEventListener('abort', fail, { once: true })
    const all = watching.get(runId) ?? new Set()
    watching.set(runId, all.add(watcher))
    poll.start()
    begins.add(runId).catch(watcher.fail)
    return () => {
      signal.removeEventListener('abort', fail)
      all.delete(watcher)
      if (all.size === 0) watching.delete(runId)
      if (watching.size === 0) poll.stop()
    }
  }

  return {
    watch,
    until(runId, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<RunView | undefined>()
      const see = (run: RunView | undefined) => {
        if (run === undefined || isTerminal(run.status)) resolve(run)
      }
      const leave = watch(runId, { see, fail: reject }, signal)
      return promise.finally(leave)
    },
    async close() {
      closed.abort(new Error('The queue was closed while somebody waited for a run.'))
      poll.stop()
      const listener = await listening
      listener?.close()
    },
  }
}
