/**
 * Everything that is ready is executed, one run after the other, until nothing is. Time does not pass inside: a run that
 * becomes due meanwhile, be it a retry after a millisecond, waits for the next drain.
 */
import type { Calendar, InlineReplica } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import type { ClaimedRun, RunId, Store } from '@q/store'

export interface DrainOptions {
  /** More is taken for a task that never comes to an end. Default: 1000. */
  readonly runsMax?: number
}

export interface Drained {
  /** What was executed, in this order. */
  readonly ran: readonly RanRun[]
  /** Runs that were not started before their deadline, and never will be. */
  readonly expired: readonly RunId[]
  /** Runs whose replica was taken for dead. What became of them is their task's `onCrash`. */
  readonly recovered: readonly RunId[]
}

/** One attempt of a run. */
export interface RanRun {
  readonly id: RunId
  readonly task: string
  readonly attempt: number
  /** `retried` and `snoozed`: it will be started again. `lost`: the run was taken away or removed meanwhile. */
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'crashed' | 'released' | 'retried' | 'snoozed' | 'lost'
  /** What the code returned, if it succeeded. */
  readonly result?: unknown
  /** Why it ended otherwise. */
  readonly code?: string
  readonly detail?: string
}

const defaultRunsMax = 1_000

export interface DrainDeps {
  readonly store: Store
  readonly replica: InlineReplica
  /** By which schedules tick. */
  readonly calendar: Calendar
}

export async function drain({ store, replica, calendar }: DrainDeps, options: DrainOptions = {}): Promise<Drained> {
  const { runsMax = defaultRunsMax } = options
  const opened = await replica.openGates(calendar)
  const ran: RanRun[] = []
  for (;;) {
    const claimed = await replica.executeNext()
    if (claimed === undefined) return { ran, ...opened }
    ran.push(await ranRun(store, claimed))
    if (ran.length > runsMax) throw endless(ran, runsMax)
  }
}

async function ranRun(store: Store, { runId, fence, task, attempt }: ClaimedRun): Promise<RanRun> {
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

function endless(ran: readonly RanRun[], runsMax: number): ExplainedError {
  const counts = [...Map.groupBy(ran, ({ task }) => task)].map(([task, runs]) => ({ task, runs: runs.length }))
  const most = counts.toSorted((a, b) => b.runs - a.runs).slice(0, 5)
  return new ExplainedError({
    code: 'DRAIN_ENDLESS',
    what: `drain() has executed more than ${runsMax} runs, and still something is ready.`,
    why: `Perhaps a task enqueues itself. Executed so far: ${most.map(({ task, runs }) => `${task} ${runs} times`).join(', ')}.`,
    fix: 'Let the chain end, or delay its next run and travel() there; drain({ runsMax }) allows more.',
  })
}
