/**
 * The SQL that the verbs send, for review and EXPLAIN: `pnpm codegen` writes one file per entry into `sql/`.
 * The arguments are examples; only the text matters.
 */
import { compileOnlyDb } from './connection/compile-only-db.ts'
import { leaseStatement } from './deliveries/lease-deliveries.ts'
import { markStatement } from './deliveries/mark-deliveries.ts'
import { upsertHeartbeatStatement } from './heartbeats/beat-replica.ts'
import { beatStatement } from './heartbeats/beat-runs.ts'
import type { Lease, RunId } from './lease.ts'
import { appendStatement } from './logs/append.ts'
import { claimStatement } from './runs/claim.ts'
import { assignKeysStatement, lockKeysStatement, touchStatement } from './runs/debounce.ts'
import { duplicatesStatement } from './runs/duplicates.ts'
import { enqueueByDatabaseStatement } from './runs/enqueue-by-database.ts'
import { enqueueOneStatement } from './runs/enqueue-one-statement.ts'
import { enqueueStatement, enqueueUniqueStatement } from './runs/enqueue-statement.ts'
import { finishStatement } from './runs/finish.ts'
import { transitionStatement } from './runs/transition-statement.ts'
import { promoteKeysStatement } from './runs/keys-statement.ts'
import { promoteStatement } from './runs/promote.ts'
import { candidatesStatement } from './runs/claim-candidates.ts'
import { startStatement } from './runs/start.ts'
import { periodsStatement } from './runs/unique-period.ts'

export function sqlSnapshots(): Record<string, string> {
  const db = compileOnlyDb()
  const lease: Lease = { runId: '1' as RunId, fence: 1 }
  const run = { run: { task: 'hello', lane: 1, payload: {} }, payload: '{}' }
  const sender = { replicaId: 'r', hostname: 'h', pid: 1 }
  const stats = {
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
    'runs.enqueue': enqueueStatement([run]).sql,
    'runs.enqueue-and-wake': enqueueStatement([run], { wakes: true }).sql,
    'runs.enqueue-one': enqueueOneStatement(run).sql,
    'runs.enqueue-by-database': enqueueByDatabaseStatement([{ run: { task: 'hello', payload: {} }, payload: '{}' }])
      .sql,
    'runs.enqueue-unique': enqueueUniqueStatement([run]).sql,
    'runs.unique-period': periodsStatement([{ runId: lease.runId, task: 'hello', key: 'key', forMs: 1 }]).compile(db)
      .sql,
    'runs.duplicates': duplicatesStatement([{ task: 'hello', key: 'key' }]).sql,
    'runs.debounce-lock': lockKeysStatement([run]).sql,
    'runs.debounce-touch': touchStatement([run]).sql,
    'runs.debounce-assign': assignKeysStatement([run], ['1']).sql,
    'runs.claim-candidates': candidatesStatement({ tasks: [], queues: [], capabilities: [] }).sql,
    'runs.claim': claimStatement({ replicaId: 'r', prefetch: false, quotas: [] }).sql,
    'runs.claim-traced': claimStatement({ replicaId: 'r', prefetch: false, quotas: [], traces: true }).sql,
    'runs.claim-prefetched': claimStatement({ replicaId: 'r', prefetch: true, quotas: [] }).sql,
    'runs.start': startStatement([lease], { skipLocked: true }).sql,
    'runs.finish': finishStatement([{ lease, result: '1' }]).sql,
    'runs.transition': transitionStatement(['RUNNING'], [{ ...lease, goal: 'SUCCEEDED', result: '1' }]).sql,
    'runs.promote-keys': promoteKeysStatement(['key']).sql,
    'runs.promote': promoteStatement(1).sql,
    'deliveries.lease': leaseStatement({ destination: 'd', holder: 'r', limit: 1, forMs: 1 }).sql,
    'deliveries.mark': markStatement('r', []).sql,
    'heartbeats.beat-runs': beatStatement(sender, [{ lease, thread: 1, ageMs: 0, progress: null, note: null }]).sql,
    'logs.append': appendStatement([]).sql,
    'heartbeats.beat-replica': upsertHeartbeatStatement(db, 'r', stats).sql,
  }
}
