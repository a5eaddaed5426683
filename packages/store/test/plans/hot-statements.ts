/**
 * Every statement whose cost is paid per run or per beat, with real parameters, and what it may cost.
 *
 * The limits are for a batch of 50 runs in a table where 550 more are live, and do not know how many there are in all:
 * about twice the most that was seen when they were set. A plan may look at all that is live; at what is not, never.
 */
import type { DB } from '@q/schema'
import type { CompiledQuery, Kysely } from 'kysely'
import { upsertHeartbeatStatement } from '../../src/heartbeats/beat-replica.ts'
import { beatStatement } from '../../src/heartbeats/beat-runs.ts'
import { staleStatement } from '../../src/liveness/stale.ts'
import { appendStatement } from '../../src/logs/append.ts'
import { claimStatement } from '../../src/runs/claim.ts'
import { assignKeysStatement, lockKeysStatement, touchStatement } from '../../src/runs/debounce.ts'
import { duplicatesStatement } from '../../src/runs/duplicates.ts'
import { enqueueOneStatement } from '../../src/runs/enqueue-one-statement.ts'
import { enqueueStatement, enqueueUniqueStatement } from '../../src/runs/enqueue-statement.ts'
import { finishStatement } from '../../src/runs/finish.ts'
import { transitionStatement } from '../../src/runs/transition-statement.ts'
import { promoteKeysStatement } from '../../src/runs/keys-statement.ts'
import { promoteStatement } from '../../src/runs/promote.ts'
import { candidatesStatement } from '../../src/runs/claim-candidates.ts'
import { startStatement } from '../../src/runs/start.ts'
import { by } from '../fixture.ts'
import { batch, holder, type LiveWork } from './live-work.ts'

export interface HotStatement {
  /** As in “the cost of …”. */
  readonly of: string
  readonly query: CompiledQuery
  /** The only ways to q.task_run that it may take. */
  readonly scans: readonly string[]
  readonly rowsMax: number
  readonly pagesMax: number
}

export function hotStatements(db: Kysely<DB>, work: LiveWork): HotStatement[] {
  const quotas = work.heads.map((head) => ({ ...head, runs: batch / work.heads.length }))
  const claim = { replicaId: holder.replicaId, prefetch: false, quotas }
  const finishes = work.running.map((lease) => ({ lease, result: '1' }))
  const succeeded = (leases: LiveWork['running']) =>
    leases.map((lease) => ({ ...lease, by, goal: 'SUCCEEDED' as const, result: '1' }))
  const crashed = work.running.map((lease) => ({ ...lease, goal: 'CRASH' as const, result: '{"code":"X"}' }))
  const beats = work.running.map((lease) => ({ lease, thread: 0, ageMs: 0, progress: null, note: null }))
  const run = { task: 'wanted', lane: work.lanes.wanted, payload: {} }
  const runs = Array.from({ length: batch }, () => ({ run, payload: '{}' }))
  const uniqueRuns = runs.map((one, number) => ({ ...one, run: { ...run, uniqueKey: `${number}` } }))
  const keys = uniqueRuns.map(({ run: { task, uniqueKey } }) => ({ task, key: uniqueKey }))
  const debounced = runs.map((one, number) => {
    const debounce = { key: `${number}`, forMs: 3_600_000, maxMs: 3_600_000 }
    return { ...one, run: { ...run, task: 'debounced', debounce } }
  })
  const stats = { health: 'healthy', cpuPercent: 0, memoryMb: 0, activeRuns: 0, freeSlots: 0 } as const
  return [
    {
      of: 'a look at what is ready',
      query: candidatesStatement({ tasks: ['wanted'], queues: [], capabilities: [] }),
      scans: ['task_run_ready'],
      rowsMax: 40,
      pagesMax: 200,
    },
    {
      of: 'finishing a batch',
      query: finishStatement(finishes),
      scans: ['task_run_pkey'],
      rowsMax: 1_200,
      pagesMax: 1_500,
    },
    {
      of: 'a claim',
      query: claimStatement(claim),
      scans: ['task_run_pkey', 'task_run_ready'],
      rowsMax: 600,
      pagesMax: 2_000,
    },
    {
      of: 'a claim ahead',
      query: claimStatement({ ...claim, prefetch: true }),
      scans: ['task_run_pkey', 'task_run_ready'],
      rowsMax: 600,
      pagesMax: 2_000,
    },
    {
      of: 'a start',
      query: startStatement(work.claimed, { skipLocked: true }),
      scans: ['task_run_pkey'],
      rowsMax: 1_200,
      pagesMax: 1_500,
    },
    {
      of: 'settling a batch',
      query: transitionStatement(['RUNNING'], succeeded(work.running)),
      scans: ['task_run_gated', 'task_run_pkey', 'task_run_slot'],
      rowsMax: 1_200,
      pagesMax: 2_000,
    },
    {
      of: 'settling keyed runs with successors',
      query: transitionStatement(['RUNNING'], succeeded(work.keyed)),
      scans: ['task_run_gated', 'task_run_pkey', 'task_run_slot'],
      rowsMax: 1_400,
      pagesMax: 2_500,
    },
    {
      of: 'recovering crashed runs',
      query: transitionStatement(['RUNNING'], crashed),
      scans: ['task_run_gated', 'task_run_pkey', 'task_run_slot'],
      rowsMax: 1_200,
      pagesMax: 2_000,
    },
    {
      of: 'promoting what is due',
      query: promoteStatement(batch),
      scans: ['task_run_due', 'task_run_pkey'],
      rowsMax: 600,
      pagesMax: 1_500,
    },
    {
      of: 'promoting keys',
      query: promoteKeysStatement(work.openKeys),
      scans: ['task_run_gated', 'task_run_pkey', 'task_run_slot'],
      rowsMax: 1_200,
      pagesMax: 2_500,
    },
    {
      of: 'the beats of runs',
      query: beatStatement(holder, beats),
      scans: ['task_run_pkey'],
      rowsMax: 1_200,
      // 450 as a rule; a version that a statement which was rolled back left behind costs each look a page more.
      pagesMax: 700,
    },
    {
      of: 'the log lines of runs',
      query: appendStatement(work.running.map((lease) => ({ lease, lineNo: 1, level: 30, line: 'so far', ageMs: 0 }))),
      scans: ['task_run_pkey'],
      rowsMax: 200,
      pagesMax: 1_000,
    },
    {
      of: 'a replica’s heartbeat',
      query: upsertHeartbeatStatement(db, holder.replicaId, { ...stats, completed: 0, failed: 0, uptimeS: 0 }),
      scans: [],
      rowsMax: 0,
      pagesMax: 50,
    },
    {
      of: 'a look for stale runs',
      query: staleStatement({}).compile(db),
      scans: ['task_run_held'],
      rowsMax: 1_200,
      pagesMax: 600,
    },
    {
      of: 'an enqueue',
      query: enqueueStatement(runs),
      scans: [],
      rowsMax: 0,
      pagesMax: 2_000,
    },
    {
      of: 'an enqueue of one run',
      query: enqueueOneStatement({ run, payload: '{}' }),
      scans: [],
      rowsMax: 20,
      pagesMax: 100,
    },
    {
      of: 'an enqueue with unique keys',
      query: enqueueUniqueStatement(uniqueRuns),
      scans: ['task_run_pkey'],
      rowsMax: 200,
      pagesMax: 3_000,
    },
    {
      of: 'locking the keys of debounced runs',
      query: lockKeysStatement(debounced),
      scans: [],
      rowsMax: 0,
      pagesMax: 1_000,
    },
    {
      of: 'changing debounced runs that wait',
      query: touchStatement(debounced),
      scans: ['task_run_pkey'],
      rowsMax: 200,
      pagesMax: 3_000,
    },
    {
      of: 'giving debounced runs their keys',
      query: assignKeysStatement(
        debounced,
        debounced.map((_, number) => `${number}`),
      ),
      scans: [],
      rowsMax: 0,
      pagesMax: 1_000,
    },
    {
      of: 'a look for who has unique keys',
      query: duplicatesStatement(keys),
      scans: ['task_run_pkey', 'task_run_unique'],
      rowsMax: 200,
      pagesMax: 500,
    },
  ]
}
