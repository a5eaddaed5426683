/** Nodes: their state, load and history, and the recoveries of their runs. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { HeartbeatData } from '../heartbeats/heartbeat-data.ts'
import { nodeDetail, type NodeDetail } from '../reads/nodes/node-detail.ts'
import { nodeHeartbeat, nodeHeartbeats, type NodeHeartbeat } from '../reads/nodes/node-heartbeats.ts'
import { nodeSamples, type NodeSample } from '../reads/nodes/node-history.ts'
import type { Node } from '../reads/nodes/node-view.ts'
import { findNode, listNodes, liveReplicas, type LiveReplica } from '../reads/nodes/nodes.ts'
import type { Page } from '../reads/page.ts'
import { listRecoveries, type RecoveryRequest, type RecoveryView } from '../reads/recoveries/list-recoveries.ts'

export interface NodeReadVerbs {
  // ---- Reads of nodes: no locks, no writes

  /**
   * Returns replicas with their stats, threads and drains: alive, draining or stale by their own thresholds.
   * Includes stopped replicas only on request, the newest 1 000 of them.
   */
  listNodes(which?: { stopped?: boolean }): Promise<Node[]>

  /**
   * Returns replicas by id, name, the beginning of an id or a part of a name, in this order. More than one result means
   * that the text is ambiguous.
   */
  findNode(text: string): Promise<Node[]>

  /**
   * Returns one node with the runs it holds, its samples, failed heartbeats, gaps and recoveries.
   * All from one snapshot; undefined if there is no such node.
   */
  nodeDetail(id: string): Promise<NodeDetail | undefined>

  /**
   * Returns the stats of a node over time, oldest first.
   * Covers the last hour unless `sinceMs` is set; at most 2 000 rows.
   */
  nodeSamples(id: string, which?: { sinceMs?: number }): Promise<NodeSample[]>

  /**
   * Returns the last heartbeat of a node as a message for programs: health, runs, free slots and metrics.
   * Undefined if no heartbeat of it is kept.
   */
  nodeHeartbeat(id: string): Promise<HeartbeatData | undefined>

  /**
   * Returns that message for every live node, oldest node first.
   * `worker_id` in the message is the node's name.
   */
  nodeHeartbeats(): Promise<NodeHeartbeat[]>

  /**
   * Returns the live replicas that have a capability, and their addresses.
   * For service discovery.
   */
  liveReplicas(which?: { capability?: string }): Promise<LiveReplica[]>

  /**
   * Returns recoveries of runs, newest first: those of one node, or those that a person has to review.
   * At most 500 per page.
   */
  listRecoveries(request?: RecoveryRequest): Promise<Page<RecoveryView>>
}

export function nodeReadVerbs(db: Kysely<DB>): NodeReadVerbs {
  return {
    listNodes: (which) => listNodes(db, which),
    findNode: (text) => findNode(db, text),
    nodeDetail: (id) => nodeDetail(db, id),
    nodeSamples: (id, which) => nodeSamples(db, id, which),
    nodeHeartbeat: (id) => nodeHeartbeat(db, id),
    nodeHeartbeats: () => nodeHeartbeats(db),
    liveReplicas: (which) => liveReplicas(db, which),
    listRecoveries: (request) => listRecoveries(db, request),
  }
}
