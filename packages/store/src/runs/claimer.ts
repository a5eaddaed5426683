/**
 * One replica's claiming: what it saw ready, which heads it served last, what it asks for next. The state is in memory
 * only: a replica that loses it looks again.
 *
 * A claim and a look go together (turn.ts). The claim asks the heads that are known, or, when none is known, the heads
 * that gave runs last; the look shows what is ready after it, for the next claim. So a run of a better priority or of a
 * new group is overtaken by at most one exchange after the replica decides to look.
 *
 * A head that gave less than asked is exhausted until the next look: SKIP LOCKED passes over rows that another
 * connection is taking, and every other row of it was got. Two connections may share a claimer. Both may ask the same
 * heads; an answer that is older than the last look does not change what that look showed.
 */
import type { CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import { claimStatement, type ClaimedRun, type ClaimRequest, type ClaimRow } from './claim.ts'
import { createFairShares, headKey, inTurn, quotasOf, type Fits, type Quota, type ReadyHead } from './fair-shares.ts'
import { readyHeadsStatement } from './ready-heads.ts'

/** Takes runs, in the order they are to be started. */
export async function claimAvailableTaskRuns(db: Db, request: ClaimRequest): Promise<ClaimedRun[]> {
  if (request.limit < 1 || request.tasks.length === 0) return []
  const claimer = createClaimer(request)
  await claimer.look(db)
  return claimer.claim(db, request.limit, request.ahead)
}

export interface Claimer {
  readonly replicaId: string
  /** Whether no run is known to be ready. */
  readonly exhausted: boolean
  /** Whether a look must come before a claim: no head is known, and none gave runs before. */
  readonly isNew: boolean
  /** Runs may have become ready since the last look: the next exchange looks too. */
  forget(): void
  /** The statements for at most so many runs. */
  ask(wanted: Wanted): Ask
  /** Looks at what is ready now. */
  look(db: Db): Promise<void>
  /** Asks until so many are got or nothing is left of what was seen. */
  claim(db: Db, limit: number, ahead?: boolean, fits?: Fits): Promise<ClaimedRun[]>
}

export interface Wanted {
  readonly claim: number
  /** Which of them there is room for; default: all. */
  readonly fits?: Fits
  readonly ahead: number
}

/** One exchange: what to send, in this order, and what the rows say about the heads. Undefined: not needed. */
export interface Ask {
  readonly claim: CompiledQuery<ClaimRow> | undefined
  readonly ahead: CompiledQuery<ClaimRow> | undefined
  readonly look: CompiledQuery<ReadyHead> | undefined
  learn(rows: AskedRows): void
  /** What the claim brought, in the order in which it is to be started. */
  inTurn(claimed: readonly ClaimRow[]): readonly ClaimRow[]
}

export interface AskedRows {
  readonly claim: readonly ClaimRow[]
  readonly ahead: readonly ClaimRow[]
  readonly look?: readonly ReadyHead[]
}

type Wish = Pick<ClaimRequest, 'replicaId' | 'tasks' | 'queues' | 'queueWeights' | 'capabilities' | 'shares'>

export function createClaimer(wish: Wish): Claimer {
  const { replicaId, tasks, queues, capabilities = [], queueWeights = {}, shares = createFairShares() } = wish
  let heads: readonly ReadyHead[] = []
  let served: readonly ReadyHead[] = []
  /** How often runs may have become ready, and how many of these times the last look has seen. */
  let changes = 1
  let changesSeen = 0
  const lookStatement = () => readyHeadsStatement({ tasks, queues, capabilities })

  function quotasFor(limit: number, fits?: Fits): readonly Quota[] {
    if (limit < 1) return []
    if (heads.length > 0) return quotasOf(shares, heads, limit, queueWeights, fits)
    // A guess, which charges no group: it may be that none of them has runs.
    return quotasOf(createFairShares(), served, limit, queueWeights, fits)
  }
  function statementOf(quotas: readonly Quota[], ahead: boolean) {
    return quotas.length === 0 ? undefined : claimStatement({ replicaId, ahead, quotas })
  }

  const claimer: Claimer = {
    replicaId,
    get exhausted() {
      return heads.length === 0
    },
    get isNew() {
      return heads.length + served.length === 0
    },
    forget() {
      changes++
    },
    ask(wanted) {
      const asked = { claim: quotasFor(wanted.claim, wanted.fits), ahead: quotasFor(wanted.ahead) }
      const looks = wanted.claim + wanted.ahead > 0 && (heads.length === 0 || changesSeen < changes)
      const headsAsked = heads
      const changesAsked = changes
      return {
        claim: statementOf(asked.claim, false),
        ahead: statementOf(asked.ahead, true),
        look: looks ? lookStatement() : undefined,
        inTurn: (claimed) => inTurn(asked.claim, claimed),
        learn(rows) {
          const answers = [...answersOf(asked.claim, rows.claim), ...answersOf(asked.ahead, rows.ahead)]
          const short = new Set(answers.filter(({ quota, got }) => got < quota.runs).map(({ quota }) => headKey(quota)))
          const left = (known: readonly ReadyHead[]) => known.filter((head) => !short.has(headKey(head)))
          if (rows.look !== undefined && changesAsked >= changesSeen) {
            changesSeen = changesAsked
            heads = left(rows.look)
          } else if (heads === headsAsked) heads = left(heads)
          const gave = answers.filter(({ got }) => got > 0).map(({ quota }) => quota)
          if (gave.length > 0) served = gave
        },
      }
    },
    async look(db) {
      const changesAsked = changes
      heads = (await db.executeQuery(lookStatement())).rows
      changesSeen = changesAsked
    },
    async claim(db, limit, ahead = false, fits) {
      const claimed: ClaimedRun[] = []
      while (claimed.length < limit && heads.length > 0) {
        const wanted = limit - claimed.length
        const ask = claimer.ask({ claim: ahead ? 0 : wanted, ahead: ahead ? wanted : 0, ...(fits && { fits }) })
        const query = ahead ? ask.ahead : ask.claim
        if (query === undefined) break
        // Each round gets all it asked for, or knows one head less.
        const { rows } = await db.executeQuery(query)
        ask.learn(ahead ? { claim: [], ahead: rows } : { claim: rows, ahead: [] })
        claimed.push(...rows)
      }
      return claimed
    },
  }
  return claimer
}

interface Answer {
  readonly quota: Quota
  readonly got: number
}

function answersOf(quotas: readonly Quota[], rows: readonly ClaimRow[]): Answer[] {
  if (quotas.length === 1) return quotas.map((quota) => ({ quota, got: rows.length }))
  const counts = new Map<string, number>()
  for (const row of rows) {
    const key = headKey(row)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return quotas.map((quota) => ({ quota, got: counts.get(headKey(quota)) ?? 0 }))
}
