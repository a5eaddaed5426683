/**
 * The SQL our verbs really send, for review and EXPLAIN: `pnpm codegen` writes one file per entry into `sql/`.
 * The arguments are examples; what matters is the text.
 */
import { withoutServer } from './db.ts'
import { upsertHeartbeatStatement } from './heartbeats/beat-replica.ts'
import { beatStatement } from './heartbeats/beat-runs.ts'
import type { Lease, RunId } from './lease.ts'
import { claimStatement } from './runs/claim.ts'
import { enqueueStatement } from './runs/enqueue.ts'
import { leaveStatement } from './runs/leave.ts'
import { promoteKeysStatement, promoteStatement } from './runs/promote.ts'
import { startStatement } from './runs/start.ts'

export function statementPictures(): Record<string, string> {
  const db = withoutServer()
  const lease: Lease = { runId: '1' as RunId, fence: 1 }
  const sender = { replicaId: 'r', hostname: 'h', pid: 1 }
  const vitals = {
    health: 'healthy',
    cpuPercent: 0,
    memoryMb: 0,
    activeRuns: 0,
    freeSlots: 0,
    completed: 0,
    failed: 0,
    uptimeS: 0,
  } as const
  return {
    'runs.enqueue': enqueueStatement(db, [{ task: 'hello', lane: 1, payload: '{}' }]).sql,
    'runs.claim': claimStatement({ replicaId: 'r', tasks: ['hello'], queues: [], limit: 1 }).compile(db).sql,
    'runs.start': startStatement([lease]).compile(db).sql,
    'runs.leave': leaveStatement(['RUNNING'], [{ ...lease, goal: 'SUCCEEDED', result: '1' }]).compile(db).sql,
    'runs.promote-keys': promoteKeysStatement(['key']).compile(db).sql,
    'runs.promote': promoteStatement(1).compile(db).sql,
    'heartbeats.beat-runs': beatStatement(sender, [{ lease, thread: 1, ageMs: 0, progress: null, note: null }]).compile(
      db,
    ).sql,
    'heartbeats.beat-replica': upsertHeartbeatStatement(db, 'r', vitals).sql,
  }
}
