/**
 * What a person should act on now, the most harmful first. Twenty questions whose answers are bounded: none reads in
 * proportion to history or backlog. No locks. An empty list means that nothing needs a person.
 */
import { sql } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import { listNodes } from '../nodes/nodes.ts'
import { listQueues } from '../queues/list-queues.ts'
import { unservedLanes } from '../queues/unserved-lanes.ts'
import { percentile } from '../rates/percentile.ts'
import { aboutNodes } from './about-nodes.ts'
import { aboutLanes, aboutQueues } from './about-queues.ts'
import { aboutRecords } from './about-records.ts'
import { aboutServer } from './about-server.ts'
import { attentionKinds, byHarm, type Attention } from './attention-item.ts'
import { recorded } from './recorded.ts'

export interface AttentionReport {
  readonly at: Date
  /** How many questions were asked. */
  readonly checks: number
  readonly items: readonly Attention[]
}

export async function attention(db: Db): Promise<AttentionReport> {
  const facts = await recorded(db)
  const nodes = await listNodes(db)
  const queues = await listQueues(db)
  const lanes = await unservedLanes(db)
  const hasNode = nodes.some((node) => node.state === 'alive')
  const waiting = lanes.some((lane) => lane.ready.count > 0) || facts.deadHolders.length > 0
  const items = [
    ...aboutRecords(facts),
    ...aboutNodes(nodes, facts.at, waiting),
    // Without a node every lane is unserved: that is one fact, not many.
    ...(hasNode ? aboutLanes(lanes) : []),
    ...aboutQueues(queues, await usualWaits(db), facts.at),
    ...(await aboutServer(db)),
  ]
  return { at: facts.at, checks: attentionKinds.length, items: byHarm(items) }
}

/** The 95th percentile of the waits of the last hour, in ms, per queue. */
async function usualWaits(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ queue: string; histogram: number[] }>`
SELECT queue, array_agg(runs ORDER BY place) AS histogram FROM (
  SELECT t.queue, one.place, sum(one.runs)::float8 AS runs FROM q.run_tally t
  CROSS JOIN LATERAL unnest(t.wait_histogram) WITH ORDINALITY AS one(runs, place)
  WHERE t.width_s = 60 AND t.bucket_at > ${statementTime} - interval '1 hour' GROUP BY 1, 2) element
GROUP BY queue`.execute(db)
  return new Map(rows.flatMap(({ queue, histogram }) => [[queue, percentile(histogram, 0.95) ?? 0]]))
}
