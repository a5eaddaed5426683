/**
 * Counts starts and ends of runs of HTTP workers, for rates, times and error groups; replicas count their own runs. One
 * statement adds the counts that arrive together. A count that cannot be stored is lost, and fails no request.
 */
import { randomUUID } from 'node:crypto'
import {
  addTally,
  countTime,
  createBatcher,
  emptyTally,
  fingerprintOf,
  type ClaimedRun,
  type ErrorCount,
  type LeaseHolder,
  type Outcome,
  type RunTally,
  type Store,
} from '@q/store'

interface WorkerRunCounts {
  started(runs: readonly ClaimedRun[]): Promise<void>
  ended(run: EndedWorkerRun, outcome: Outcome, answer: 'settled' | 'retried'): Promise<void>
}

interface EndedWorkerRun extends Pick<LeaseHolder, 'task' | 'queue' | 'ranMs'> {
  readonly runId: string
}

interface Count {
  readonly tally: RunTally
  readonly error?: ErrorCount
}

const batchMax = 200

export function createWorkerRunCounts(store: Pick<Store, 'flushTally'>, version: string): WorkerRunCounts {
  /** The name under which this server numbers its flushes; it is not a replica. */
  const replicaId = `http-${randomUUID()}`
  let flushNo = 0
  const batches = createBatcher<Count, void>(async (counts) => {
    await store.flushTally({ replicaId, flushNo: ++flushNo, runs: tallySums(counts), errors: errorSums(counts) })
    return counts.map(() => undefined)
  }, batchMax)
  const add = (count: Count) => batches.add(count).catch(() => {})

  return {
    async started(runs) {
      await Promise.all(runs.map((run) => add({ tally: startOf(run) })))
    },
    ended: (run, outcome, answer) => add({ tally: endOf(run, outcome, answer), ...errorOf(run, outcome, version) }),
  }
}

/** One statement must contain each queue and task only once. */
function tallySums(counts: readonly Count[]): RunTally[] {
  const byTask = Map.groupBy(counts, ({ tally: { queue, task } }) => `${queue}\0${task}`)
  return [...byTask.values()].flatMap((some) => {
    const [first] = some
    if (first === undefined) return []
    const sum = emptyTally(first.tally.queue, first.tally.task)
    for (const { tally } of some) addTally(sum, tally)
    return sum
  })
}

function errorSums(counts: readonly Count[]): ErrorCount[] {
  const groups = Map.groupBy(
    counts.flatMap(({ error }) => error ?? []),
    ({ fingerprint }) => fingerprint,
  )
  return [...groups.values()].flatMap((errors) => {
    const last = errors.at(-1)
    return last === undefined ? [] : { ...last, seen: errors.length }
  })
}

function startOf({ queue, task, attempt, waitMs }: ClaimedRun): RunTally {
  const tally = emptyTally(queue, task)
  tally.started = 1
  if (attempt > 1) return tally
  tally.waitMs = waitMs
  countTime(tally.wait, waitMs)
  return tally
}

const endCounts = { SUCCEEDED: 'succeeded', FAILED: 'failed', CANCELLED: 'cancelled' } as const

function endOf({ queue, task, ranMs }: EndedWorkerRun, { status }: Outcome, answer: 'settled' | 'retried'): RunTally {
  const tally = emptyTally(queue, task)
  tally[answer === 'retried' ? 'retried' : endCounts[status]] = 1
  tally.busyMs = ranMs ?? 0
  if (ranMs !== null) countTime(tally.duration, ranMs)
  return tally
}

/** One group per code and task: the database groups errors without a group the same way. */
function errorOf({ runId, task }: EndedWorkerRun, outcome: Outcome, version: string): Pick<Count, 'error'> {
  if (outcome.status !== 'FAILED') return {}
  const { code, detail } = outcome
  const fingerprint = fingerprintOf([code, task])
  return {
    error: {
      fingerprint,
      code,
      name: code,
      message: detail,
      place: null,
      seen: 1,
      lastRunId: runId,
      tasks: [task],
      version,
    },
  }
}
