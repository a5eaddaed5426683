/** What can be asked, without a lock and without a write. The contracts are here; each law is in the file of its verb. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { RunId } from '../lease.ts'
import { readTaskLogs, type LogPage, type LogRequest } from '../logs/read.ts'
import { countRunsByState, queueBacklog, type QueueBacklog } from '../reads/backlog.ts'
import { listTaskRuns, type PageRequest, type RunFilter, type RunPage } from '../reads/list-runs.ts'
import { findNode, listNodes, liveReplicas, type LiveReplica, type Node } from '../reads/nodes.ts'
import { getTaskRun, type RunDetail } from '../reads/run.ts'
import { getTaskRuns, type RunView } from '../reads/runs.ts'
import { whyNotRunning, type Why } from '../reads/why.ts'
import type { TaskState } from '@q/schema'

export interface ReadVerbs {
  // ---- Reads: no locks, no writes

  /**
   * Runs by id, with progress, for whoever waits.
   * Those that do not exist are left out.
   */
  getTaskRuns(ids: readonly RunId[]): Promise<RunView[]>

  /**
   * One run with everything: attempts, recoveries, beats, events and the timeline.
   * Read at one moment.
   */
  getTaskRun(id: RunId): Promise<RunDetail | undefined>

  /**
   * What a run's code logged, by claim and number, in pages that neither skip nor repeat.
   * Go on after `next`, or after the last line to follow a run; at most 1 000 a page.
   */
  readTaskLogs(id: RunId, request?: LogRequest): Promise<LogPage>

  /**
   * Runs by filter, newest first, in pages that neither skip nor repeat.
   * At most 500 a page.
   */
  listTaskRuns(filter?: RunFilter, page?: PageRequest): Promise<RunPage>

  /**
   * Why a run is not running: all that is in its way, as data and in words.
   * From the conditions of the claim and the gates themselves.
   */
  whyNotRunning(id: RunId): Promise<Why | undefined>

  /**
   * Live runs per queue and state, the oldest that is ready, and whether the queue is paused.
   * Grows with what waits, not with what ended.
   */
  queueBacklog(): Promise<QueueBacklog[]>

  /**
   * All runs by state.
   * Reads the whole table.
   */
  countRunsByState(): Promise<{ status: TaskState; runs: number }[]>

  /**
   * Replicas with their vitals: alive, draining or stale by their own thresholds.
   * Those that stopped only if asked for.
   */
  listNodes(which?: { stopped?: boolean }): Promise<Node[]>

  /**
   * By exact name, else by the beginning of an id.
   * More than one: the text is ambiguous.
   */
  findNode(text: string): Promise<Node[]>

  /**
   * Who is alive and has a capability, and where to reach it.
   * For discovery.
   */
  liveReplicas(which?: { capability?: string }): Promise<LiveReplica[]>
}

export function readVerbs(db: Kysely<DB>): ReadVerbs {
  return {
    getTaskRuns: (ids) => getTaskRuns(db, ids),
    getTaskRun: (id) => getTaskRun(db, id),
    readTaskLogs: (id, request) => readTaskLogs(db, id, request),
    listTaskRuns: (filter, page) => listTaskRuns(db, filter, page),
    whyNotRunning: (id) => whyNotRunning(db, id),
    queueBacklog: () => queueBacklog(db),
    countRunsByState: () => countRunsByState(db),
    listNodes: (which) => listNodes(db, which),
    findNode: (text) => findNode(db, text),
    liveReplicas: (which) => liveReplicas(db, which),
  }
}
