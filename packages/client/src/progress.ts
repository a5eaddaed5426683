/**
 * A run, followed until it ends: what changed, as the looks of all who wait show it (waits.ts). Between two looks more
 * may have happened; the newest is told. The end is never missed, and ends it.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { RunId, RunView } from '@q/store'
import type { Waits } from './waits.ts'

export interface RunProgress {
  readonly status: TaskState
  readonly attempt: number
  /** 0 to 1, as the code reported it; null when it has not. */
  readonly progress: number | null
  readonly note: string | null
}

/** Rejects with the signal's reason, or with what `notFound` says. */
export async function* follow(
  waits: Waits,
  runId: RunId,
  signal: AbortSignal,
  notFound: () => Error,
): AsyncGenerator<RunProgress, void, undefined> {
  let seen: { readonly run: RunView | undefined } | undefined
  let failed: { readonly reason: unknown } | undefined
  let changed = Promise.withResolvers<void>()
  const see = (run: RunView | undefined) => {
    seen = { run }
    changed.resolve()
  }
  const fail = (reason: unknown) => {
    failed = { reason }
    changed.resolve()
  }
  const leave = waits.watch(runId, { see, fail }, signal)
  let told = ''
  try {
    for (;;) {
      await changed.promise
      changed = Promise.withResolvers()
      if (failed !== undefined) throw failed.reason
      if (seen?.run === undefined) throw notFound()
      if (isTerminal(seen.run.status)) return
      const { status, attempt, progress, note } = seen.run
      const now: RunProgress = { status, attempt, progress, note }
      const text = JSON.stringify(now)
      if (text === told) continue
      told = text
      yield now
    }
  } finally {
    leave()
  }
}
