/**
 * Explains why a run is not running.
 *
 * Returns everything that blocks it now, in the order in which the run would meet it: its own state, its gates, its
 * queue, the replicas. The reason is `ready` exactly when nothing blocks it; a claim of a replica named there then
 * takes the run when its turn comes, because the conditions are those of the claim. Takes no locks; everything is read
 * in one snapshot.
 */
import type { TaskState } from '@q/schema'
import { dateMsMax } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { inSnapshot } from '../snapshot.ts'
import {
  keyFacts,
  liveNodes,
  pausedWorkflow,
  readyAhead,
  runFacts,
  type LiveNode,
  type WaitingRunFacts,
} from './why-facts.ts'
import { sentenceOf, type Reason } from './why-reasons.ts'

export interface Why {
  readonly runId: RunId
  readonly status: TaskState
  /** At least one. */
  readonly reasons: readonly Reason[]
  /** The reasons in words. */
  readonly sentence: string
}

/** Returns undefined if the run does not exist. */
export function whyNotRunning(db: Db, runId: RunId): Promise<Why | undefined> {
  return inSnapshot(db, async (snapshot) => {
    const run = await runFacts(snapshot, runId)
    if (run === undefined) return undefined
    const reasons = await reasonsOf(snapshot, runId, run)
    return { runId, status: run.status, reasons, sentence: reasons.map(sentenceOf).join(' ') }
  })
}

/** No replica executes a run in lane 0. */
async function reasonsOf(db: Db, id: RunId, run: WaitingRunFacts): Promise<Reason[]> {
  if (run.endedMs !== null) return [{ reason: 'ended', status: run.status, code: run.code, agoMs: run.endedMs }]
  if (run.held === true) return [held(run), ...(run.status === 'CLAIMED' ? expiry(run) : [])]
  const nodes = await liveNodes(db, run.lane)
  const unable = [...pause(run), ...(run.lane === 0 ? [] : unserved(run, nodes))]
  const canStart = unable.every(({ reason }) => reason === 'task-unpublished')
  const inItsWay = [...expiry(run), ...(await gate(db, id, run, canStart)), ...unable]
  return inItsWay.length > 0 ? inItsWay : [await readyReason(db, id, nodes)]
}

function held(run: WaitingRunFacts): Reason {
  return {
    reason: 'held',
    status: run.status === 'RUNNING' ? 'RUNNING' : 'CLAIMED',
    replicaId: run.replicaId ?? '',
    name: run.holderName,
    state: run.holderState ?? 'unknown',
    forMs: run.heldMs ?? 0,
    cancelRequested: run.cancelRequested,
  }
}

function expiry(run: WaitingRunFacts): Reason[] {
  return run.inTime ? [] : [{ reason: 'expired', agoMs: run.expiredMs ?? 0 }]
}

/** Only the gate at which it waits: later gates are not evaluated before it reaches them. */
async function gate(db: Db, id: RunId, run: WaitingRunFacts, canStart: boolean): Promise<Reason[]> {
  switch (run.ready === true ? null : run.waitingFor) {
    case null:
      return []
    case 'parents':
      return [{ reason: 'parents', open: run.waitingOn }]
    case 'workflow':
      return [await pausedWorkflow(db, id)]
    case 'task': {
      const { task, publishedBy } = run
      return [publishedBy === null ? { reason: 'task-unpublished', task } : { reason: 'task-gate', task, publishedBy }]
    }
    case 'time':
      return [{ reason: 'time', until: run.runAt, inMs: Math.min(-(run.dueMs ?? 0), dateMsMax), due: run.due === true }]
    case 'concurrency': {
      const [scope, key] = [run.scope ?? '', run.key ?? '']
      return [{ reason: 'concurrency', scope, key: key.slice(scope.length + 1), canStart, ...(await keyFacts(db, id)) }]
    }
  }
}

function pause(run: WaitingRunFacts): Reason[] {
  if (!run.paused || run.queue === null) return []
  return [{ reason: 'queue-paused', queue: run.queue, by: run.pausedBy, forMs: run.pausedMs ?? 0 }]
}

/** Returns why no live replica would take it; empty if one would. */
function unserved(run: WaitingRunFacts, alive: readonly LiveNode[]): Reason[] {
  const { queue, task, requires } = run
  if (queue === null || requires === null) return [{ reason: 'lane-missing' }]
  const unpublished: Reason[] = run.publishedBy === null ? [{ reason: 'task-unpublished', task }] : []
  if (alive.length === 0) return [{ reason: 'no-replica' }, ...unpublished]
  const knowing = alive.filter((node) => node.knowsTask)
  if (knowing.length === 0)
    return unpublished.length > 0 ? unpublished : [{ reason: 'task-unknown', task, alive: alive.length }]
  const onQueue = knowing.filter((node) => node.worksOnQueue)
  const able = onQueue.filter((node) => node.capable)
  const [closest] = (onQueue.length > 0 ? onQueue : knowing).toSorted((a, b) => a.lacks.length - b.lacks.length)
  return [
    ...unpublished,
    ...(onQueue.length === 0 ? [{ reason: 'queue-unserved', queue, alive: knowing.length } as const] : []),
    ...(closest === undefined || closest.capable
      ? []
      : [{ reason: 'capabilities-missing', requires, missing: closest.lacks, closest: closest.name } as const]),
    ...(able.length > 0 && able.every((node) => node.draining)
      ? [{ reason: 'all-draining', nodes: able.map((node) => node.name) } as const]
      : []),
  ]
}

async function readyReason(db: Db, id: RunId, alive: readonly LiveNode[]): Promise<Reason> {
  const takers = alive.filter((node) => node.knowsTask && node.worksOnQueue && node.capable && !node.draining)
  return {
    reason: 'ready',
    ahead: await readyAhead(db, id),
    freeSlots: takers.reduce((sum, node) => sum + node.freeSlots, 0),
    nodes: takers.map((node) => node.name),
  }
}
