/**
 * The claiming of one replica: which candidates it saw ready, which it served last, and what it asks for next. The
 * state is in memory only: a replica that loses it reads again.
 *
 * A claim and a look, which reads what is ready, are sent together (work-exchange.ts). The claim asks the known
 * candidates. If none is known and a wake says that runs became ready, it asks the candidates that gave runs last. The
 * look shows what is ready after it, for the next claim. So a run of a better priority or of a new group is overtaken
 * by at most one exchange after the replica decides to look.
 *
 * A candidate that gave fewer runs than asked is exhausted until the next look: SKIP LOCKED skips rows that another
 * connection is claiming, and the claim got every other row. A claim from a cursor (claim-cursors.ts) proves less, so it is
 * repeated from the beginning. Two connections may share a claimer. Both may ask the same
 * candidates; an answer older than the last look does not change what that look showed.
 */
import type { CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import { claimStatement, type ClaimedRun, type ClaimRequest, type ClaimRow } from './claim.ts'
import {
  createFairShares,
  candidateKey,
  inFairOrder,
  quotasOf,
  type Fits,
  type Quota,
  type Candidate,
} from './fair-shares.ts'
import { candidatesStatement } from './claim-candidates.ts'
import { createClaimCursors, type LookRow, type CursorOptions } from './claim-cursors.ts'

/** Claims runs, and returns them in the order in which to start them. */
export async function claimAvailableTaskRuns(db: Db, request: ClaimRequest): Promise<ClaimedRun[]> {
  if (request.limit < 1 || request.tasks.length === 0) return []
  const claimer = createClaimer(request)
  await claimer.refresh(db)
  return claimer.claim(db, request.limit, request.prefetch)
}

export interface Claimer {
  readonly replicaId: string
  /** Whether no run is known to be ready. */
  readonly exhausted: boolean
  /** Whether a look must precede the claim: no candidate is known, and none gave runs before. */
  readonly isNew: boolean
  /** Runs became ready: the next exchange claims, even if no candidate is known, and looks. */
  runsReady(): void
  /** The candidates have become old: the next exchange looks. */
  expire(): void
  /** Returns the statements that claim at most this many runs. */
  statementsFor(limits: ClaimLimits): ClaimStatements
  /** Reads what is ready now. */
  refresh(db: Db): Promise<void>
  /** Claims until it has this many runs, or none is left of the candidates it saw. */
  claim(db: Db, limit: number, prefetch?: boolean, fits?: Fits): Promise<ClaimedRun[]>
}

export interface ClaimLimits {
  readonly claim: number
  /** Whether there is room for a run; default: for all. */
  readonly fits?: Fits
  readonly prefetch: number
}

/** One exchange: the statements to send, in this order, and how to apply their rows. Undefined: not needed. */
export interface ClaimStatements {
  readonly claim: CompiledQuery<ClaimRow> | undefined
  readonly prefetch: CompiledQuery<ClaimRow> | undefined
  readonly look: CompiledQuery<LookRow> | undefined
  claimed(rows: ClaimedRows): void
  /** Whether no candidate is known to be asked: there is a look alone. */
  readonly looksOnly: boolean
  /** Applies the look, after the claim. */
  looked(rows: readonly LookRow[]): void
  /** The claimed runs, in the order in which to start them. */
  inFairOrder(claimed: readonly ClaimRow[]): readonly ClaimRow[]
}

export interface ClaimedRows {
  readonly claim: readonly ClaimRow[]
  readonly prefetch: readonly ClaimRow[]
}

type ClaimerOptions = Pick<
  ClaimRequest,
  'replicaId' | 'tasks' | 'queues' | 'queueWeights' | 'capabilities' | 'shares' | 'traces'
> & { readonly cursors?: CursorOptions }

export function createClaimer(options: ClaimerOptions): Claimer {
  const { replicaId, tasks, queues, capabilities = [], queueWeights = {}, shares = createFairShares() } = options
  const { traces = false } = options
  const cursors = createClaimCursors(options.cursors ?? {})
  let candidates: readonly Candidate[] = []
  let served: readonly Candidate[] = []
  /** How often runs became ready, and how many of these times the last look has seen. */
  let changes = 1
  let changesSeen = 0
  let expired = false
  const lookStatement = () => candidatesStatement({ tasks, queues, capabilities })

  function quotasFor(limit: number, fits?: Fits): readonly Quota[] {
    if (limit < 1) return []
    if (candidates.length > 0) return quotasOf(shares, candidates, limit, queueWeights, fits)
    // A guess. It charges no group, because perhaps none of them has runs.
    return changesSeen < changes ? quotasOf(createFairShares(), served, limit, queueWeights, fits) : []
  }
  function statementOf(quotas: readonly Quota[], prefetch: boolean) {
    return quotas.length === 0 ? undefined : claimStatement({ replicaId, prefetch, quotas, traces })
  }

  /** Candidates that have just given fewer runs than asked are exhausted, even if the look still shows them. */
  function looked(rows: readonly LookRow[], changesAsked: number, answers: readonly QuotaResult[]): void {
    if (changesAsked < changesSeen) return
    changesSeen = changesAsked
    expired = false
    candidates = leftOf(cursors.looked(rows), answers)
  }

  const claimer: Claimer = {
    replicaId,
    get exhausted() {
      return candidates.length === 0
    },
    get isNew() {
      return candidates.length + served.length === 0
    },
    runsReady() {
      changes++
    },
    expire() {
      expired = true
    },
    statementsFor(limits) {
      const quotas = { claim: quotasFor(limits.claim, limits.fits), prefetch: quotasFor(limits.prefetch) }
      const isOld = expired || candidates.length === 0 || changesSeen < changes || cursors.expired
      const looks = limits.claim + limits.prefetch > 0 && isOld
      const candidatesAsked = candidates
      const changesAsked = changes
      let answers: readonly QuotaResult[] = []
      return {
        claim: statementOf(quotas.claim, false),
        prefetch: statementOf(quotas.prefetch, true),
        look: looks ? lookStatement() : undefined,
        looksOnly: looks && candidatesAsked.length + quotas.claim.length + quotas.prefetch.length === 0,
        inFairOrder: (claimed) => inFairOrder(quotas.claim, claimed),
        claimed({ claim, prefetch }) {
          nameQueues(quotas.claim, claim)
          nameQueues(quotas.prefetch, prefetch)
          answers = [...quotaResults(quotas.claim, claim), ...quotaResults(quotas.prefetch, prefetch)]
          if (candidates === candidatesAsked)
            candidates = leftOf(advanced(candidates, [...claim, ...prefetch]), answers)
          const gave = answers.filter(({ got }) => got > 0).map(({ quota }) => withoutCursor(quota))
          if (gave.length > 0) served = gave
        },
        looked: (rows) => looked(rows, changesAsked, answers),
      }
    },
    async refresh(db) {
      const changesAsked = changes
      looked((await db.executeQuery(lookStatement())).rows, changesAsked, [])
    },
    claim: (db, limit, prefetch = false, fits) => claimUpTo(claimer, db, { limit, prefetch, ...(fits && { fits }) }),
  }
  return claimer
}

/** Claims until it has `limit` runs, or no candidate is known. */
async function claimUpTo(
  claimer: Claimer,
  db: Db,
  { limit, prefetch, ...rest }: { readonly limit: number; readonly prefetch: boolean; readonly fits?: Fits },
): Promise<ClaimedRun[]> {
  const claimed: ClaimedRun[] = []
  while (claimed.length < limit && !claimer.exhausted) {
    const missing = limit - claimed.length
    const limits = { claim: prefetch ? 0 : missing, prefetch: prefetch ? missing : 0, ...rest }
    const statements = claimer.statementsFor(limits)
    const query = prefetch ? statements.prefetch : statements.claim
    if (query === undefined) break
    // Each round gets all it asked for, or drops a candidate.
    const { rows } = await db.executeQuery(query)
    statements.claimed(prefetch ? { claim: [], prefetch: rows } : { claim: rows, prefetch: [] })
    claimed.push(...rows)
  }
  return claimed
}

/** The statement returns lanes; the quotas know which queue each is part of. */
function nameQueues(quotas: readonly Quota[], rows: readonly ClaimRow[]): void {
  const queues = new Map(quotas.map(({ lane, queue }) => [lane, queue]))
  for (const row of rows) Object.assign(row, { queue: queues.get(row.lane) ?? '' })
}

interface QuotaResult {
  readonly quota: Quota
  readonly got: number
}

function quotaResults(quotas: readonly Quota[], rows: readonly ClaimRow[]): QuotaResult[] {
  if (quotas.length === 1) return quotas.map((quota) => ({ quota, got: rows.length }))
  const counts = new Map<string, number>()
  for (const row of rows) {
    const key = candidateKey(row)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return quotas.map((quota) => ({ quota, got: counts.get(candidateKey(quota)) ?? 0 }))
}

/**
 * Returns the candidates that may have more runs. A candidate that gave too few from a cursor may have runs before it:
 * the next claim asks it from the beginning.
 */
function leftOf(known: readonly Candidate[], results: readonly QuotaResult[]): readonly Candidate[] {
  const short = new Map(
    results.filter(({ quota, got }) => got < quota.runs).map(({ quota }) => [candidateKey(quota), quota]),
  )
  return known.flatMap((candidate) => {
    const quota = short.size === 0 ? undefined : short.get(candidateKey(candidate))
    if (quota === undefined) return candidate
    return quota.from === undefined ? [] : withoutCursor(candidate)
  })
}

/** Moves each cursor to the last run that its candidate gave. */
function advanced(known: readonly Candidate[], rows: readonly ClaimRow[]): readonly Candidate[] {
  if (!known.some(({ from }) => from !== undefined)) return known
  const last = new Map(
    rows.flatMap((row) => (row.runAt === null ? [] : [[candidateKey(row), { runAt: row.runAt, id: row.runId }]])),
  )
  return known.map((candidate) => {
    const from = candidate.from === undefined ? undefined : last.get(candidateKey(candidate))
    return from === undefined ? candidate : { ...candidate, from }
  })
}

function withoutCursor({ from: _, ...candidate }: Candidate): Candidate {
  return candidate
}
