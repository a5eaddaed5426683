/**
 * Everybody in this process who waits for a run to end shares one LISTEN session and one poll behind it.
 *
 * No end is missed: we listen first, then mark the run as awaited, then look. Settling either sees the mark and sends
 * a wake, or was committed before we looked. If listening fails the poll alone serves.
 */
import { listen, type Listener, type RunId, type RunView, type Store } from '@q/store'
import { isTerminal } from '@q/schema'
import { createPoll } from './poll.ts'

export interface Waits {
  /** Resolves with the ended run; undefined if there is no such run. Rejects with the signal's reason. */
  until(runId: RunId, signal: AbortSignal): Promise<RunView | undefined>
  close(): Promise<void>
}

const readAtOnceMax = 1_000

export function createWaits(deps: { readonly store: Store; readonly databaseUrl: string }): Waits {
  const waiting = new Map<RunId, Set<(run: RunView | undefined) => void>>()
  let listening: Promise<Listener | undefined> | undefined
  const poll = createPoll(async () => {
    void (listening ??= openListener())
    await look([...waiting.keys()])
  })

  const closed = new AbortController()

  async function look(ids: readonly RunId[]): Promise<void> {
    for (let start = 0; start < ids.length; start += readAtOnceMax) {
      const part = ids.slice(start, start + readAtOnceMax)
      const runs = new Map((await deps.store.getTaskRuns(part)).map((run) => [run.id, run]))
      for (const id of part) {
        const run = runs.get(id)
        if (run !== undefined && !isTerminal(run.status)) continue
        for (const resolve of waiting.get(id) ?? []) resolve(run)
      }
    }
  }

  function openListener(): Promise<Listener | undefined> {
    return listen(deps.databaseUrl, 'q_ended', {
      onWake(wake) {
        if (wake.channel === 'q_ended') void look(wake.runIds.filter((id) => waiting.has(id))).catch(() => {})
      },
      onLost: () => {
        listening = undefined // the next wait or poll listens again
      },
    }).catch(() => {
      listening = undefined
      return undefined
    })
  }

  function enter(runId: RunId, resolve: (run: RunView | undefined) => void): () => void {
    const all = waiting.get(runId) ?? new Set()
    waiting.set(runId, all.add(resolve))
    poll.start()
    return () => {
      all.delete(resolve)
      if (all.size === 0) waiting.delete(runId)
      if (waiting.size === 0) poll.stop()
    }
  }

  return {
    async until(runId, wish) {
      const signal = AbortSignal.any([wish, closed.signal])
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<RunView | undefined>()
      const abort = () => reject(signal.reason as Error)
      signal.addEventListener('abort', abort, { once: true })
      const leave = enter(runId, resolve)
      const begun = (async () => {
        await (listening ??= openListener())
        await deps.store.awaitTaskRuns([runId])
        await look([runId])
      })()
      begun.catch(reject)
      return promise.finally(() => {
        signal.removeEventListener('abort', abort)
        leave()
      })
    },
    async close() {
      closed.abort(new Error('The queue was closed while somebody waited for a result.'))
      poll.stop()
      const listener = await listening
      listener?.close()
    },
  }
}
