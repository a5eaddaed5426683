/**
 * Reads one run with all details, in one snapshot. Takes no locks.
 *
 * The list of attempts is complete: it joins the current attempt and a success, which are stored in the run itself, to
 * the history.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { runAttempts, type RunAttempt } from './attempts.ts'
import { runEvents, type RunEvent } from './events.ts'
import { replicaNames } from '../nodes/replica-names.ts'
import { inSnapshot } from '../snapshot.ts'
import { whyNotRunning, type Why } from '../why/why.ts'
import { runLinks, type RunLinks } from './run-links.ts'
import { timelineOf, type TimelineEntry } from './timeline.ts'

export interface RunRecord {
  readonly id: RunId
  readonly task: string
  readonly queue: string
  readonly requires: readonly string[]
  readonly group: string
  readonly priority: number
  readonly status: TaskState
  /** The gate of a PENDING run. */
  readonly waitingFor: 'parents' | 'workflow' | 'task' | 'time' | 'concurrency' | null
  /** The number of parents that have not ended. */
  readonly waitingOn: number
  readonly payload: unknown
  /** Return value of a SUCCEEDED run; `{ code, detail }` of one that ended otherwise. */
  readonly result: unknown
  readonly checkpoint: unknown
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashCount: number
  readonly epoch: number
  readonly fence: number
  readonly onCrash: 'fail' | 'retry' | null
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  readonly uniqueKey: string | null
  /** `slot`: the slot of the key that the run holds, if any. */
  readonly concurrency: { readonly scope: string; readonly key: string; readonly slot: number | null } | null
  readonly workflowId: string | null
  readonly trace: string | null
  readonly replicaId: string | null
  readonly createdAt: Date
  readonly runAt: Date
  readonly expiresAt: Date | null
  readonly claimedAt: Date | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly cancelRequestedAt: Date | null
  readonly updatedAt: Date
}

/** One recovery of the run from a holder that was considered dead. */
export interface RunRecovery {
  readonly fence: number
  readonly at: Date
  readonly cause: string
  readonly was: TaskState
  readonly became: TaskState
  readonly code: string | null
  readonly beatAgeMs: number | null
  readonly replicaId: string
  readonly recoveredBy: string
  /** The name of the replica that recovered it, else its id. */
  readonly recoveredByName: string
}

/** The last sign of life of the current claim. */
export interface RunHeartbeat {
  readonly role: 'claimer' | 'runner'
  readonly senderId: string
  readonly sentAt: Date
  readonly ageMs: number
  readonly progress: number | null
  readonly note: string | null
}

export interface RunDetail extends RunLinks {
  readonly run: RunRecord
  readonly attempts: readonly RunAttempt[]
  readonly recoveries: readonly RunRecovery[]
  readonly beats: readonly RunHeartbeat[]
  readonly events: readonly RunEvent[]
  readonly timeline: readonly TimelineEntry[]
  /** Why the run is not running; null: it is running, or it has ended. */
  readonly why: Why | null
}

/** Undefined: there is no such run, or it has been pruned. */
export function getTaskRun(db: Db, id: RunId): Promise<RunDetail | undefined> {
  return inSnapshot(db, async (snapshot) => {
    const run = await recordOf(snapshot, id)
    if (run === undefined) return undefined
    const attempts = await runAttempts(snapshot, id)
    const recoveries = await recoveriesOf(snapshot, id)
    const beats = await beatsOf(snapshot, run)
    const events = await runEvents(snapshot, id)
    const nameOf = await replicaNames(snapshot, [
      run.replicaId,
      ...recoveries.flatMap(({ replicaId, recoveredBy }) => [replicaId, recoveredBy]),
      ...events.map(({ replicaId }) => replicaId),
    ])
    const named = recoveries.map((recovery) => ({ ...recovery, recoveredByName: nameOf(recovery.recoveredBy) }))
    const history = { run, attempts, recoveries: named, beats, events }
    const why = run.status === 'PENDING' || run.status === 'AVAILABLE' ? await whyNotRunning(snapshot, id) : undefined
    return { ...history, timeline: timelineOf(history, nameOf), ...(await runLinks(snapshot, id)), why: why ?? null }
  })
}

async function recordOf(db: Db, id: RunId): Promise<RunRecord | undefined> {
  const row = await db
    .selectFrom('q.task_run as r')
    .leftJoin('q.lane as lane', 'lane.id', 'r.lane')
    .select([
      'r.task',
      'r.grp as group',
      'r.priority',
      'r.status',
      'r.waiting_on as waitingOn',
      'r.payload',
      'r.result',
    ])
    .select(['r.checkpoint', 'r.attempt', 'r.max_attempts as maxAttempts', 'r.crash_count as crashCount', 'r.epoch'])
    .select(['r.fence', 'r.on_crash as onCrash', 'r.timeout_ms as timeoutMs', 'r.max_silent_ms as maxSilentMs'])
    .select(['r.unique_key as uniqueKey', 'r.concurrency_scope', 'r.concurrency_key', 'r.concurrency_slot'])
    .select(['r.workflow_id as workflowId', 'r.trace', 'r.replica_id as replicaId', 'r.created_at as createdAt'])
    .select([
      'r.run_at as runAt',
      'r.expires_at as expiresAt',
      'r.claimed_at as claimedAt',
      'r.started_at as startedAt',
    ])
    .select(['r.finished_at as finishedAt', 'r.cancel_requested_at as cancelRequestedAt', 'r.updated_at as updatedAt'])
    .select(sql<RunRecord['waitingFor']>`r.waiting_for`.as('waitingFor'))
    .select(sql<string>`coalesce(lane.queue, '')`.as('queue'))
    .select(sql<string[]>`coalesce(lane.requires, '{}')`.as('requires'))
    .where('r.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { concurrency_scope: scope, concurrency_key: key, concurrency_slot: slot, ...record } = row
  // The scope is the first part of the stored key.
  const concurrency = scope === null || key === null ? null : { scope, key: key.slice(scope.length + 1), slot }
  return { ...record, id, concurrency }
}

function recoveriesOf(db: Db, id: RunId): Promise<Omit<RunRecovery, 'recoveredByName'>[]> {
  return db
    .selectFrom('q.recovery')
    .select(['fence', 'recovered_at as at', 'cause', 'was', 'became', 'code', 'replica_id as replicaId'])
    .select(['recovered_by as recoveredBy', sql<number | null>`beat_age_ms::float8`.as('beatAgeMs')])
    .where('run_id', '=', id)
    .orderBy('id')
    .execute()
}

function beatsOf(db: Db, run: RunRecord): Promise<RunHeartbeat[]> {
  return db
    .selectFrom('q.task_heartbeat')
    .select(['role', 'sender_id as senderId', 'sent_at as sentAt', 'progress', 'note'])
    .select(sql<number>`(extract(epoch FROM clock_timestamp() - sent_at) * 1000)::float8`.as('ageMs'))
    .where('run_id', '=', run.id)
    .where('fence', '=', run.fence)
    .orderBy('sent_at')
    .execute()
}
