/**
 * Lists every queue that ever had a run or was paused, including empty ones. Takes no locks. The cost depends on the
 * number of lanes and groups, not on how many runs wait or have ended.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { bounded, sumOf } from '../bounded.ts'
import { laneCounts, type LaneCounts } from './lane-counts.ts'
import { queueRates } from './queue-rates.ts'
import type { QueueRates, QueueView } from './queue-view.ts'
import { waitingCounts, type WaitingInQueues } from './waiting-counts.ts'

export async function listQueues(db: Db): Promise<QueueView[]> {
  const facts = await queueFacts(db)
  const names = [...facts.lanes.keys(), ...facts.waiting.queues, ...facts.pauses.keys()]
  return [...new Set(names)].toSorted().map((queue) => viewOf(queue, facts))
}

export interface QueueFacts {
  readonly lanes: ReadonlyMap<string, readonly LaneCounts[]>
  readonly waiting: WaitingInQueues
  readonly pauses: ReadonlyMap<string, Pause>
  readonly rates: ReadonlyMap<string, QueueRates>
}

export type Pause = Pick<QueueView, 'paused' | 'pausedBy' | 'pausedAt' | 'pauseReason'>

/** `queue`: only lanes and rates of this queue. */
export async function queueFacts(db: Db, queue?: string): Promise<QueueFacts> {
  const lanes = await laneCounts(db, queue === undefined ? {} : { queues: [queue], serving: 'number' })
  return {
    lanes: Map.groupBy(lanes, (lane) => lane.queue),
    waiting: await waitingCounts(db),
    pauses: await pausesOf(db),
    rates: await queueRates(db, queue),
  }
}

export const open: Pause = { paused: false, pausedBy: null, pausedAt: null, pauseReason: null }

export function viewOf(queue: string, { lanes, waiting, pauses, rates }: QueueFacts): QueueView {
  const own = lanes.get(queue) ?? []
  const ages = own.flatMap(({ oldestMs }) => oldestMs ?? [])
  return {
    queue,
    ready: sumOf(own.map((lane) => bounded(lane.ready, lane.bound))),
    claimed: own.reduce((sum, lane) => sum + lane.claimed, 0),
    running: own.reduce((sum, lane) => sum + lane.running, 0),
    waiting: waiting.of(queue),
    oldestReadyMs: ages.length === 0 ? null : Math.max(...ages),
    ...(pauses.get(queue) ?? open),
    rates: rates.get(queue) ?? null,
    unserved: [...new Set(own.filter((lane) => lane.ready > 0 && lane.nodes === 0).map((lane) => lane.task))],
  }
}

export async function pausesOf(db: Db): Promise<Map<string, Pause>> {
  const { rows } = await sql<Pause & { name: string }>`
    SELECT name, paused_at IS NOT NULL AS paused, paused_by AS "pausedBy", paused_at AS "pausedAt", pause_reason AS "pauseReason"
    FROM q.queue`.execute(db)
  return new Map(rows.map(({ name, ...pause }) => [name, pause]))
}
