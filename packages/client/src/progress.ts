/**
 * A run or a workflow, followed until it ends: what changed, as the looks of all who wait show it (waits.ts). Between two looks more
 * may have happened; the newest is told. The end is never missed, and ends it.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { RunView } from '@q/store'
import type { Waits } from './waits.ts'

export interface RunProgress {
  readonly status: TaskState
  readonly attempt: number
  /** 0 to 1, as the code reported it; null when it has not. */
  readonly progress: number | null
  readonly note: string | null
}

/** What is told of a run; undefined: it has ended. */
export function runProgress({ status, attempt, progress, note }: RunView): RunProgress | undefined {
  return isTerminal(status) ? undefined : { status, attempt, progress, note }
}

/**
 * `tell`: what is told; undefined: it has ended. Rejects with the signal's reason, or with what `notFound` says.
 * Who stops following does not wait for the next change, also if it has asked for one already.
 */
export function follow<Id, View, Told>(
  waits: Waits<Id, View>,
  id: Id,
  wish: AbortSignal | undefined,
  kind: Followed<View, Told>,
): AsyncIterableIterator<Told, void, undefined> {
  const stop = new AbortController()
  const changes = changesOf(waits, id, wish === undefined ? stop.signal : AbortSignal.any([wish, stop.signal]), kind)
  return {
    next: () =>
      changes.next().catch((error: unknown) => (stop.signal.aborted ? changes.return() : Promise.reject(error))),
    return() {
      stop.abort()
      return changes.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

interface Followed<View, Told> {
  readonly tell: (view: View) => Told | undefined
  readonly notFound: () => Error
}

async function* changesOf<Id, View, Told>(
  waits: Waits<Id, View>,
  id: Id,
  signal: AbortSignal,
  { tell, notFound }: Followed<View, Told>,
): AsyncGenerator<Told, void, undefined> {
  let seen: { readonly view: View | undefined } | undefined
  let failed: { readonly reason: unknown } | undefined
  let changed = Promise.withResolvers<void>()
  const see = (view: View | undefined) => {
    seen = { view }
    changed.resolve()
  }
  const fail = (reason: unknown) => {
    failed = { reason }
    changed.resolve()
  }
  const leave = waits.watch(id, { see, fail }, signal)
  let told = ''
  try {
    for (;;) {
      await changed.promise
      changed = Promise.withResolvers()
      if (failed !== undefined) throw failed.reason
      if (seen?.view === undefined) throw notFound()
      const now = tell(seen.view)
      if (now === undefined) return
      const text = JSON.stringify(now)
      if (text === told) continue
      told = text
      yield now
    }
  } finally {
    leave()
  }
}
