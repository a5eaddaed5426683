/**
 * Reads the facts for `why`: the run with its lane, the live replicas, the holders of its key, the runs ahead. The
 * conditions are those of the claim and the promotion (runs/claimable.ts, replicas/alive.ts). Times are measured by the
 * database's clock.
 */
import { sql } from 'kysely'
import type { TaskState } from '@q/schema'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { isAlive, isDraining, nodeState, type NodeState } from '../../replicas/alive.ts'
import {
  freeSlots,
  isCapable,
  isDue,
  isInTime,
  isKnownTask,
  isPaused,
  isReady,
  isWorkedOn,
  slotsOf,
} from '../../runs/claimable.ts'
import { startRank } from '../../runs/startable.ts'
import { agoMs, countOf } from '../bounded.ts'
import { aheadMax, type KeyHolder, type Reason } from './why-reasons.ts'

/** Holders of one key that are named; the limit of a key may be larger. */
const holdersMax = 50

export interface WaitingRunFacts {
  readonly lane: number
  /** The queue of its lane, like requires; null: there is no such lane. */
  readonly queue: string | null
  readonly task: string
  readonly requires: readonly string[] | null
  readonly status: TaskState
  readonly ready: boolean | null
  readonly held: boolean | null
  readonly inTime: boolean
  /** Whether it is due; null: it is not at the gate `time`. */
  readonly due: boolean | null
  readonly waitingFor: 'parents' | 'workflow' | 'task' | 'time' | 'concurrency' | null
  readonly waitingOn: number
  readonly runAt: Date
  readonly scope: string | null
  readonly key: string | null
  readonly code: string | null
  readonly cancelRequested: boolean
  readonly paused: boolean
  readonly pausedBy: string | null
  readonly replicaId: string | null
  readonly holderName: string | null
  readonly holderState: NodeState | null
  /** Replica that published its task last. */
  readonly publishedBy: string | null
  /** The age of that state; negative for a future time, null if it does not apply. */
  readonly endedMs: number | null
  readonly heldMs: number | null
  readonly expiredMs: number | null
  readonly dueMs: number | null
  readonly pausedMs: number | null
}

export function runFacts(db: Db, id: RunId): Promise<WaitingRunFacts | undefined> {
  return db
    .selectFrom('q.task_run as r')
    .leftJoin('q.lane as lane', 'lane.id', 'r.lane')
    .leftJoin('q.queue as line', 'line.name', 'lane.queue')
    .leftJoin('q.task as task', 'task.name', 'r.task')
    .leftJoin('q.replica as n', 'n.id', 'r.replica_id')
    .leftJoin('q.replica_heartbeat as h', 'h.replica_id', 'n.id')
    .select(['r.lane', 'lane.queue', 'r.task', 'lane.requires', 'r.status'])
    .select(sql<WaitingRunFacts['waitingFor']>`r.waiting_for`.as('waitingFor'))
    .select(['r.waiting_on as waitingOn', 'r.run_at as runAt', 'r.replica_id as replicaId', 'n.name as holderName'])
    .select(['r.concurrency_scope as scope', 'r.concurrency_key as key', 'line.paused_by as pausedBy'])
    .select([isReady.as('ready'), isInTime.as('inTime'), isDue.as('due'), isPaused.as('paused'), 'r.held'])
    .select(sql<boolean>`r.cancel_requested_at IS NOT NULL`.as('cancelRequested'))
    .select(sql<string | null>`CASE WHEN r.status <> 'SUCCEEDED' THEN r.result ->> 'code' END`.as('code'))
    .select(sql<NodeState | null>`CASE WHEN n.id IS NOT NULL THEN ${nodeState} END`.as('holderState'))
    .select([
      agoMs(sql`r.finished_at`).as('endedMs'),
      agoMs(sql`coalesce(r.started_at, r.claimed_at, r.updated_at)`).as('heldMs'),
      agoMs(sql`r.expires_at`).as('expiredMs'),
      agoMs(sql`r.run_at`).as('dueMs'),
      agoMs(sql`line.paused_at`).as('pausedMs'),
    ])
    .select('task.published_by as publishedBy')
    .where('r.id', '=', id)
    .executeTakeFirst()
}

export interface LiveNode {
  readonly id: string
  readonly name: string
  readonly draining: boolean
  readonly freeSlots: number
  readonly knowsTask: boolean
  readonly worksOnQueue: boolean
  readonly capable: boolean
  readonly lacks: readonly string[]
}

/** The live replicas in relation to a lane. */
export function liveNodes(db: Db, lane: number): Promise<LiveNode[]> {
  return db
    .selectFrom('q.replica as n')
    .innerJoin('q.replica_heartbeat as h', 'h.replica_id', 'n.id')
    .innerJoin('q.lane as lane', (join) => join.on('lane.id', '=', lane))
    .select(['n.id', 'n.name', 'h.free_slots as freeSlots', isDraining.as('draining')])
    .select(isKnownTask(sql.ref('n.tasks')).as('knowsTask'))
    .select(isWorkedOn(sql.ref('n.queues')).as('worksOnQueue'))
    .select(isCapable(sql.ref('n.capabilities')).as('capable'))
    .select(
      sql<string[]>`ARRAY(SELECT unnest(lane.requires) EXCEPT SELECT unnest(n.capabilities) ORDER BY 1)`.as('lacks'),
    )
    .where(isAlive)
    .orderBy('n.started_at')
    .execute()
}

export interface KeyFacts {
  readonly limit: number
  readonly free: number
  readonly ahead: number
  readonly holders: readonly KeyHolder[]
}

/** Facts of a run at the gate `concurrency`. */
export async function keyFacts(db: Db, id: RunId): Promise<KeyFacts> {
  const key = sql.ref<string | null>('r.concurrency_key')
  const scope = sql.ref<string | null>('r.concurrency_scope')
  const waitAhead = sql`
    SELECT 1 FROM q.task_run w JOIN q.lane ON lane.id = w.lane
    WHERE w.gated_key = r.gated_key AND (w.priority, w.id) < (r.priority, r.id) AND ${startRank} IS NOT NULL LIMIT ${aheadMax}`
  const facts = await db
    .selectFrom('q.task_run as r')
    .select([slotsOf(scope).as('limit'), countOf(freeSlots(key, scope)).as('free'), countOf(waitAhead).as('ahead')])
    .where('r.id', '=', id)
    .executeTakeFirstOrThrow()
  const holders = await db
    .selectFrom('q.task_run as h')
    .innerJoin('q.task_run as r', 'r.concurrency_key', 'h.concurrency_key')
    .leftJoin('q.replica as n', 'n.id', 'h.replica_id')
    .select(['h.id as runId', 'h.status', 'h.replica_id as replicaId', 'n.name as replicaName'])
    .where('r.id', '=', id)
    .where('h.concurrency_slot', 'is not', null)
    .orderBy('h.concurrency_slot')
    .limit(holdersMax)
    .execute()
  return { ...facts, holders: holders.map((holder) => ({ ...holder, runId: holder.runId as RunId })) }
}

/** The paused workflow of a run at the gate `workflow`. */
export async function pausedWorkflow(db: Db, id: RunId): Promise<Extract<Reason, { reason: 'workflow-paused' }>> {
  const row = await db
    .selectFrom('q.task_run as r')
    .leftJoin('q.workflow as w', 'w.id', 'r.workflow_id')
    .select(['r.workflow_id', 'w.name', 'w.paused_by as by'])
    .where('r.id', '=', id)
    .executeTakeFirstOrThrow()
  return { reason: 'workflow-paused', workflowId: row.workflow_id ?? '', name: row.name ?? '', by: row.by }
}

/** Runs of its lane and group that are claimed first, ignoring other groups. */
export async function readyAhead(db: Db, id: RunId): Promise<number> {
  const inLane = sql`r.lane = me.lane`
  const { rows } = await sql<{ ahead: number }>`
SELECT ${countOf(sql`
  (SELECT 1 FROM q.task_run r WHERE ${isReady} AND ${inLane} AND r.priority < me.priority LIMIT ${aheadMax})
  UNION ALL
  (SELECT 1 FROM q.task_run r WHERE ${isReady} AND ${inLane} AND r.priority = me.priority AND r.grp = me.grp
    AND (r.run_at, r.id) < (me.run_at, me.id) LIMIT ${aheadMax})
  LIMIT ${aheadMax}`)} AS ahead
FROM q.task_run me WHERE me.id = ${id}`.execute(db)
  return rows[0]?.ahead ?? 0
}
