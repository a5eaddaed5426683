/** Reads one node with its runs and its history in one snapshot. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { listRecoveries, type RecoveryView } from '../recoveries/list-recoveries.ts'
import { inSnapshot } from '../snapshot.ts'
import { heldRuns, type HeldRunView } from './held-runs.ts'
import {
  listHeartbeatFailures,
  listHeartbeatGaps,
  nodeSamples,
  type HeartbeatGap,
  type NodeHeartbeatFailure,
  type NodeSample,
} from './node-history.ts'
import { nodeRows, type Node } from './node-view.ts'

export interface NodeDetail {
  readonly node: Node
  /** Longest first, at most 500. */
  readonly held: readonly HeldRunView[]
  /** Samples of the last hour, oldest first. */
  readonly samples: readonly NodeSample[]
  /** Newest first, at most 50. */
  readonly failures: readonly NodeHeartbeatFailure[]
  readonly gaps: readonly HeartbeatGap[]
  /** Recoveries of runs that the node held. */
  readonly recoveries: readonly RecoveryView[]
}

/** Undefined: there is no such node, or it has been pruned. */
export function nodeDetail(db: Db, id: string): Promise<NodeDetail | undefined> {
  return inSnapshot(db, async (snapshot) => {
    const [node] = await nodeRows(snapshot, sql`n.id = ${id}`, sql`n.num`)
    if (node === undefined) return undefined
    return {
      node,
      held: await heldRuns(snapshot, id),
      samples: await nodeSamples(snapshot, id),
      failures: await listHeartbeatFailures(snapshot, id),
      gaps: await listHeartbeatGaps(snapshot, id),
      recoveries: (await listRecoveries(snapshot, { node: id, limit: 50 })).items,
    }
  })
}
