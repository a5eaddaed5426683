/**
 * Reads, without a lock and without a write: the contracts of the verbs. The rules of each verb are in its own file.
 */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { RunId } from '../lease.ts'
import { readTaskLogs, type LogPage, type LogRequest } from '../logs/read.ts'
import { endedTraces, type EndedTrace, type RunOfHolder } from '../reads/runs/ended-traces.ts'
import { countRunsByState } from '../reads/runs/count-by-state.ts'
import {
  countTaskRuns,
  listTaskRuns,
  type CountRequest,
  type RunCount,
  type RunSummaryPage,
} from '../reads/runs/list-runs.ts'
import type { PageRequest, RunFilter } from '../reads/runs/run-filter.ts'
import { getTaskRun, type RunDetail } from '../reads/runs/run.ts'
import { runSummaries, type RunSummary } from '../reads/runs/run-summary.ts'
import { runTicks, type RunTick } from '../reads/runs/run-ticks.ts'
import { getTaskRuns, type RunView } from '../reads/runs/runs.ts'
import { whyNotRunning, type Why } from '../reads/why/why.ts'
import type { TaskState } from '@q/schema'

export interface ReadVerbs {
  // ---- Reads: no locks, no writes

  /**
   * Returns runs by id, with progress, for callers that wait for them.
   * Leaves out ids that do not exist.
   */
  getTaskRuns(ids: readonly RunId[]): Promise<RunView[]>

  /**
   * Returns one run with everything: attempts, recoveries, heartbeats, events, timeline, exact values, links and why it
   * waits.
   * All from one snapshot.
   */
  getTaskRun(id: RunId): Promise<RunDetail | undefined>

  /**
   * Returns the state, progress and age of the last heartbeat of runs, for a loop that displays them.
   * At most 500; leaves out ids that do not exist.
   */
  runTicks(ids: readonly RunId[]): Promise<RunTick[]>

  /**
   * Returns the facts for the spans of ended runs: of those that were enqueued with a trace context and ended under this
   * holder.
   */
  endedTraces(runs: readonly RunOfHolder[]): Promise<EndedTrace[]>

  /**
   * Returns runs as shown in lists, in the order of the given ids, for a list that stays on screen. Leaves out ids that
   * do not exist.
   */
  runSummaries(ids: readonly RunId[]): Promise<RunSummary[]>

  /**
   * Returns the log lines of a run, by claim and number, in pages that neither skip nor repeat.
   * Continue after `next`, or after the last line to follow a run; at most 1 000 per page.
   */
  readTaskLogs(id: RunId, request?: LogRequest): Promise<LogPage>

  /**
   * Returns runs by filter and view, in pages that neither skip nor repeat.
   * Reads 50 000 runs unless `look` says otherwise, and returns how far back it read; at most 500 per page.
   */
  listTaskRuns(filter?: RunFilter, page?: PageRequest): Promise<RunSummaryPage>

  /**
   * Counts the runs that match, up to `max` and within the runs that it read.
   * Exact unless `atLeast`.
   */
  countTaskRuns(filter?: RunFilter, request?: CountRequest): Promise<RunCount>

  /**
   * Returns why a run is not running: every obstacle, as data and in words.
   * Uses the conditions of the claim and of the gates themselves.
   */
  whyNotRunning(id: RunId): Promise<Why | undefined>

  /**
   * Counts all runs by state.
   * Reads the whole table.
   */
  countRunsByState(): Promise<{ status: TaskState; runs: number }[]>
}

export function readVerbs(db: Kysely<DB>): ReadVerbs {
  return {
    getTaskRuns: (ids) => getTaskRuns(db, ids),
    getTaskRun: (id) => getTaskRun(db, id),
    runTicks: (ids) => runTicks(db, ids),
    endedTraces: (runs) => endedTraces(db, runs),
    runSummaries: (ids) => runSummaries(db, ids),
    readTaskLogs: (id, request) => readTaskLogs(db, id, request),
    listTaskRuns: (filter, page) => listTaskRuns(db, filter, page),
    countTaskRuns: (filter, request) => countTaskRuns(db, filter, request),
    whyNotRunning: (id) => whyNotRunning(db, id),
    countRunsByState: () => countRunsByState(db),
  }
}
