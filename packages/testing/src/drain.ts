/**
 * Executes ready runs one after the other until none is left. Time stands still during a drain: a run that becomes due in the
 * meantime, such as a retry after a millisecond, waits for the next drain.
 */
import type { VirtualClock, InlineReplica } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import type { ClaimedRun, RunId, Store } from '@q/store'

export interface DrainOptions {
  /** The most runs of one drain; more look like a task that enqueues itself forever. Default: 1000. */
  readonly runsMax?: number
}

export interface DrainResult {
  /** The executed attempts, in order. */
  readonly ran: readonly ExecutedRun[]
  /** Runs that ended EXPIRED because they had not started by their deadline. */
  readonly expired: readonly RunId[]
  /** Runs recovered from a dead replica, as the `onCrash` of their task says. */
  readonly recovered: readonly RunId[]
}

/** One attempt of a run. */
export interface ExecutedRun {
  readonly id: RunId
  readonly task: string
  readonly attempt: number
  /** `retried` and `snoozed`: the run will start again. `lost`: another replica took the run, or it was deleted. */
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'crashed' | 'released' | 'retried' | 'snoozed' | 'lost'
  /** The result, if the attempt succeeded. */
  readonly result?: unknown
  /** The error, if it did not succeed. */
  readonly code?: string
  readonly detail?: string
}

const defaultRunsMax = 1_000

interface DrainDeps {
  readonly store: Store
  readonly replica: InlineReplica
  /** The calendar that drives schedules. */
  readonly calendar: VirtualClock
}

export async function drain({ store, replica, calendar }: DrainDeps, options: DrainOptions = {}): Promise<DrainResult> {
  const { runsMax = defaultRunsMax } = options
  const opened = await replica.openGates(calendar)
  const ran: ExecutedRun[] = []
  for (;;) {
    const claimed = await replica.executeNext()
    if (claimed === undefined) return { ran, ...opened }
    ran.push(await executedRun(store, claimed))
    if (ran.length > runsMax) throw endless(ran, runsMax)
  }
}

async function executedRun(store: Store, { runId, fence, task, attempt }: ClaimedRun): Promise<ExecutedRun> {
  const found = await store.getTaskRun(runId)
  const ended = found?.attempts.find((one) => one.fence === fence && one.outcome !== 'running')
  const said = { id: runId, task, attempt }
  if (ended === undefined || ended.outcome === 'running') return { ...said, outcome: 'lost' }
  const { outcome, code, detail } = ended
  return {
    ...said,
    outcome,
    ...(outcome === 'succeeded' && { result: found?.run.result }),
    ...(code === null ? {} : { code }),
    ...(detail === null ? {} : { detail }),
  }
}

function endless(ran: readonly ExecutedRun[], runsMax: number): ExplainedError {
  const counts = [...Map.groupBy(ran, ({ task }) => task)].map(([task, runs]) => ({ task, runs: runs.length }))
  const most = counts.toSorted((a, b) => b.runs - a.runs).slice(0, 5)
  return new ExplainedError({
    code: 'DRAIN_ENDLESS',
    what: `drain() has executed ${runsMax} runs, and more are ready.`,
    why: `A task may enqueue itself. Executed so far: ${most.map(({ task, runs }) => `${task} ${runs} times`).join(', ')}.`,
    fix: 'End the chain, or delay its next run and travel() there; drain({ runsMax }) raises the limit.',
  })
}
