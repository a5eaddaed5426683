/**
 * Counts the runs that this replica executes, by queue and task, until the next flush takes the counts (flush-counts.ts).
 * Counting happens in memory, so no run waits for it. A replica that is killed loses the counts since its last flush.
 */
import {
  countTime,
  emptyTally,
  type ClaimedRun,
  type ErrorCount,
  type OpenTally,
  type Outcome,
  type RecoveredRun,
  type RunTally,
} from '@q/store'
import { signatureOf, type ErrorSignature } from './error-signature.ts'
import { createRunTotals } from './run-totals.ts'

type RunOf = Pick<ClaimedRun, 'queue' | 'task' | 'runId'>

export interface RunEnd {
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'retried'
  /** Whether its thread or child process died. */
  readonly crashed?: boolean
  /** How long the code ran; undefined: not known. */
  readonly tookMs?: number
  readonly error?: ErrorSignature | undefined
}

export interface RunCounts {
  /** A run was handed over to a thread. */
  started(run: ClaimedRun): void
  /** It was withdrawn before its code began. */
  notBegun(run: ClaimedRun): void
  ended(run: RunOf, end: RunEnd): void
  /** This replica recovered the run of a dead one. */
  recovered(run: RecoveredRun): void
  /** Returns the counts since the last call; undefined: there are none. */
  take(): CountedRuns | undefined
  /** The counts since the start (run-totals.ts). */
  totals(): readonly RunTally[]
}

export interface CountedRuns {
  readonly runs: readonly RunTally[]
  readonly errors: readonly ErrorCount[]
}

type OpenErrorCount = {
  -readonly [Key in keyof ErrorCount]: ErrorCount[Key] extends readonly (infer Item)[] ? Item[] : ErrorCount[Key]
}

/** Groups of errors that are counted between two flushes. */
const errorGroupsMax = 1_000
const tasksOfGroupMax = 20

export interface RunCountsDeps {
  /** The version of this replica. */
  readonly version: string
  /** Counts ends for the heartbeats of this replica. */
  readonly count: (status: Outcome['status']) => void
}

export function createRunCounts({ version, count }: RunCountsDeps): RunCounts {
  let tallies = new Map<string, Map<string, OpenTally>>()
  const totals = createRunTotals()
  let errors = new Map<string, OpenErrorCount>()

  function tallyOf({ queue, task }: RunOf): OpenTally {
    let ofQueue = tallies.get(queue)
    if (ofQueue === undefined) tallies.set(queue, (ofQueue = new Map()))
    let tally = ofQueue.get(task)
    if (tally === undefined) ofQueue.set(task, (tally = emptyTally(queue, task)))
    return tally
  }

  function openTallies(): RunTally[] {
    return [...tallies.values()].flatMap((ofQueue) => [...ofQueue.values()])
  }

  function countError({ runId, task }: RunOf, signature: ErrorSignature): void {
    const known = errors.get(signature.fingerprint)
    if (known === undefined) {
      if (errors.size >= errorGroupsMax) return
      errors.set(signature.fingerprint, { ...signature, seen: 1, lastRunId: runId, tasks: [task], version })
      return
    }
    known.seen++
    known.lastRunId = runId
    known.message = signature.message
    if (!known.tasks.includes(task) && known.tasks.length < tasksOfGroupMax) known.tasks.push(task)
  }

  return {
    started(run) {
      const tally = tallyOf(run)
      tally.started++
      if (isFirstStart(run)) countWait(tally, run.waitMs, 1)
    },
    notBegun(run) {
      const tally = tallyOf(run)
      tally.started--
      if (isFirstStart(run)) countWait(tally, run.waitMs, -1)
    },
    ended(run, { outcome, crashed = false, tookMs, error }) {
      const tally = tallyOf(run)
      if (outcome !== 'retried') count(statusOf[outcome])
      tally[outcome]++
      if (crashed) tally.crashed++
      if (tookMs !== undefined) {
        tally.busyMs += tookMs
        countTime(tally.duration, tookMs)
      }
      if (error !== undefined) countError(run, error)
    },
    recovered(run) {
      // A run that was only claimed had no attempt that could end.
      if (run.was !== 'RUNNING') return
      const tally = tallyOf(run)
      tally.crashed++
      tally[run.became === 'FAILED' ? 'failed' : run.became === 'CANCELLED' ? 'cancelled' : 'retried']++
      countError(run, signatureOf({ ...run, detail: lostDetail }))
    },
    take() {
      if (tallies.size === 0) return undefined
      const runs = openTallies()
      totals.add(runs)
      const taken = { runs, errors: [...errors.values()] }
      tallies = new Map()
      errors = new Map()
      return taken
    },
    totals: () => totals.read(openTallies()),
  }
}

const statusOf = { succeeded: 'SUCCEEDED', failed: 'FAILED', cancelled: 'CANCELLED' } as const
const lostDetail = 'The replica that held the run stopped responding.'

/** Excludes retries, which waited for their backoff, and runs that were ready before a crash or a manual retry. */
function isFirstStart({ attempt, crashCount, epoch }: ClaimedRun): boolean {
  return attempt === 1 && crashCount === 0 && epoch === 1
}

/** `times` -1 reverts it. */
function countWait(tally: OpenTally, waitMs: number, times: 1 | -1): void {
  tally.waitMs += times * waitMs
  countTime(tally.wait, waitMs, times)
}
