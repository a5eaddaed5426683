/**
 * Lists what a person should act on now, the most harmful first. It runs twenty bounded checks: none reads in
 * proportion to history or backlog. Takes no locks. An empty list means that nothing needs a person.
 */
import type { Db } from '../../connection/db.ts'
import { listNodes } from '../nodes/nodes.ts'
import { unservedLanes } from '../queues/unserved-lanes.ts'
import { aboutNodes } from './about-nodes.ts'
import { aboutLanes, aboutQueues } from './about-queues.ts'
import { aboutRecords } from './about-records.ts'
import { aboutServer } from './about-server.ts'
import { attentionKinds, byHarm, type Attention } from './attention-item.ts'
import { queueSigns } from './queue-signs.ts'
import { recorded } from './recorded.ts'

export interface AttentionReport {
  readonly at: Date
  /** The number of checks. */
  readonly checks: number
  readonly items: readonly Attention[]
}

export async function attention(db: Db): Promise<AttentionReport> {
  const facts = await recorded(db)
  const nodes = await listNodes(db)
  const queues = await queueSigns(db)
  const lanes = await unservedLanes(db)
  const hasNode = nodes.some((node) => node.state === 'alive')
  const hasLivingNode = hasNode || nodes.some((node) => node.state === 'draining')
  const waiting = lanes.some((lane) => lane.ready.count > 0) || facts.deadHolders.length > 0
  const items = [
    ...aboutRecords(facts, hasLivingNode),
    ...aboutNodes(nodes, facts.at, waiting),
    // Without a node every lane is unserved: one item says so.
    ...(hasNode ? aboutLanes(lanes) : []),
    ...aboutQueues(queues, facts.at),
    ...(await aboutServer(db)),
  ]
  return { at: facts.at, checks: attentionKinds.length, items: byHarm(items) }
}
