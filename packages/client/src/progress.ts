/**
 * Follows a run or a workflow until it ends. It yields a value when the shared polls of waits.ts show a change; if several
 * changes happen between two polls, it yields the newest state. The last value is always the final state.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { RunView } from '@q/store'
import type { Waits } from './waits.ts'

export interface RunProgress {
  readonly status: TaskState
  readonly attempt: number
  /** 0 to 1, as the code reported it; null before its first report. */
  readonly progress: number | null
  readonly note: string | null
}

/** How to follow a run; `notFound` returns the error for a run that does not exist. */
export function runToFollow(notFound: () => Error): FollowTarget<RunView, RunProgress> {
  return {
    progressOf: ({ status, attempt, progress, note }) => ({ status, attempt, progress, note }),
    isOver: ({ status }) => isTerminal(status),
    notFound,
  }
}

/**
 * Rejects with the signal's reason, or with the error of `notFound`. Returning from the loop does not wait for the next
 * change, even if one has been requested.
 */
export function follow<Id, View, Progress>(
  waits: Waits<Id, View>,
  id: Id,
  callerSignal: AbortSignal | undefined,
  kind: FollowTarget<View, Progress>,
): AsyncIterableIterator<Progress, void, undefined> {
  const stop = new AbortController()
  const changes = changesOf(
    waits,
    id,
    callerSignal === undefined ? stop.signal : AbortSignal.any([callerSignal, stop.signal]),
    kind,
  )
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

export interface FollowTarget<View, Progress> {
  readonly progressOf: (view: View) => Progress
  readonly isOver: (view: View) => boolean
  readonly notFound: () => Error
}

async function* changesOf<Id, View, Progress>(
  waits: Waits<Id, View>,
  id: Id,
  signal: AbortSignal,
  { progressOf, isOver, notFound }: FollowTarget<View, Progress>,
): AsyncGenerator<Progress, void, undefined> {
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
  const unwatch = waits.watch(id, { onView: see, onError: fail }, signal)
  let lastText = ''
  try {
    for (;;) {
      await changed.promise
      changed = Promise.withResolvers()
      if (failed !== undefined) throw failed.reason
      if (seen?.view === undefined) throw notFound()
      const now = progressOf(seen.view)
      const ended = isOver(seen.view)
      const text = JSON.stringify(now)
      if (text !== lastText) yield now
      lastText = text
      if (ended) return
    }
  } finally {
    unwatch()
  }
}
