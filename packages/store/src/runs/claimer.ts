/**
 * One replica's claiming: what it saw ready, whom it served, what it asks for next. State in memory and nothing else:
 * whoever loses it looks again.
 *
 * A head that gave less than it was asked for is exhausted, as far as this replica knows, until the next look. So is a
 * lane whose queue was paused meanwhile. A run that became ready since the last look is seen by the next one.
 */
import type { Db } from '../db.ts'
import { claimStatement, type ClaimedRun, type ClaimRequest, type ClaimRow } from './claim.ts'
import { createFairShares, quotasOf, type Quota, type ReadyHead } from './fair-shares.ts'
import { readyHeadsStatement } from './ready-heads.ts'

/** Takes runs, in the order they are to be started. */
export async function claimAvailableTaskRuns(db: Db, request: ClaimRequest): Promise<ClaimedRun[]> {
  if (request.limit < 1 || request.tasks.length === 0) return []
  const claimer = createClaimer(request)
  await claimer.look(db)
  return claimer.claim(db, request.limit, request.ahead)
}

export interface Claimer {
  /** Sees what is ready now. */
  look(db: Db): Promise<void>
  /** Nothing is known to be ready: look before asking. */
  readonly exhausted: boolean
  readonly replicaId: string
  /** Something became ready: what was seen does not count any more. */
  forget(): void
  /** What to ask for, at most so many; empty: nothing is known to be ready. */
  quotas(limit: number): Quota[]
  /** What was got for it. In the order to be started. */
  learn(quotas: readonly Quota[], rows: readonly ClaimRow[]): ClaimedRun[]
  /** Asks until so many are got or nothing is left of what was seen. */
  claim(db: Db, limit: number, ahead?: boolean): Promise<ClaimedRun[]>
}

type Wish = Pick<ClaimRequest, 'replicaId' | 'tasks' | 'queues' | 'queueWeights' | 'capabilities' | 'shares'>

export function createClaimer(wish: Wish): Claimer {
  const { replicaId, tasks, queues, capabilities = [], queueWeights = {}, shares = createFairShares() } = wish
  let heads: readonly ReadyHead[] = []

  const claimer: Claimer = {
    replicaId,
    get exhausted() {
      return heads.length === 0
    },
    async look(db) {
      heads = (await db.executeQuery(readyHeadsStatement({ tasks, queues, capabilities }))).rows
    },
    forget() {
      heads = []
    },
    quotas: (limit) => (limit < 1 || heads.length === 0 ? [] : quotasOf(shares, heads, limit, queueWeights)),
    learn(quotas, rows) {
      const got = Map.groupBy(rows, headKey)
      const short = new Set(quotas.filter((quota) => (got.get(headKey(quota))?.length ?? 0) < quota.runs).map(headKey))
      heads = heads.filter((head) => !short.has(headKey(head)))
      return rows.map(runOf)
    },
    async claim(db, limit, ahead = false) {
      const claimed: ClaimedRun[] = []
      while (claimed.length < limit) {
        const quotas = claimer.quotas(limit - claimed.length)
        if (quotas.length === 0) break
        // Each round gets all it asked for, or knows one head less.
        const { rows } = await db.executeQuery(claimStatement({ replicaId, ahead, quotas }))
        claimed.push(...claimer.learn(quotas, rows))
      }
      return claimed
    },
  }
  return claimer
}

function headKey({ lane, priority, group }: Pick<ReadyHead, 'lane' | 'priority' | 'group'>): string {
  return `${lane} ${priority} ${group}`
}

function runOf({ lane: _lane, priority: _priority, group: _group, ...run }: ClaimRow): ClaimedRun {
  return run
}
