/**
 * The runs that this process believes it holds: claims in flight, runs that wait for a slot, and runs in execution until
 * their outcome is written. reconcile.ts compares them with the database and so finds runs that went missing.
 */
import { leaseKey, leaseOf, type ClaimedRun, type HeldRun, type Lease } from '@q/store'

export interface HeldRuns {
  /**
   * Until the response to a claim has arrived, the claim may hold runs that this process does not know yet.
   * `sentMs`: when the claim is sent, which is before the database claims or starts a run.
   */
  claiming(sentMs: number, claim: () => Promise<ClaimedRun[]>): Promise<ClaimedRun[]>
  /** The code of the run begins, or may begin: a thread or child has the run. */
  begun(lease: Lease): void
  /** The run was withdrawn: its code has not begun, and it is still held. */
  notBegun(lease: Lease): void
  /** The outcome of the run is written. */
  settled(lease: Lease): void
  /** The run was executed, released or lost: this replica no longer holds it. */
  ended(lease: Lease): void
  find(lease: Lease): ClaimedRun | undefined
  /** When the claim or start of the run was sent. Other replicas have seen nothing of it before that. */
  claimSentMs(lease: Lease): number | undefined
  /** The runs that this replica holds in the database, and that no run or claim here accounts for. */
  orphans(held: readonly HeldRun[]): Orphans
  /** Those of the given runs whose code has not begun here, known or not. */
  unbegun(held: readonly HeldRun[]): readonly Lease[]
}

export interface Orphans {
  /** The code never began: safe to release. */
  readonly neverBegan: readonly Lease[]
  readonly began: readonly Lease[]
}

export function createHeldRuns(): HeldRuns {
  const known = new Map<string, { readonly run: ClaimedRun; readonly claimSentMs: number }>()
  const begun = new Set<string>()
  /** The numbers of the claims in flight. */
  const inFlight = new Set<number>()
  let claims = 0
  /** Held runs that are not known here, each with the number of the last claim that may have claimed it. */
  let unconfirmed = new Map<string, number>()

  return {
    async claiming(sentMs, claim) {
      const number = ++claims
      inFlight.add(number)
      try {
        const runs = await claim()
        for (const run of runs) known.set(leaseKey(run), { run, claimSentMs: sentMs })
        return runs
      } finally {
        inFlight.delete(number)
      }
    },
    begun: (lease) => void begun.add(leaseKey(lease)),
    notBegun: (lease) => void begun.delete(leaseKey(lease)),
    settled(lease) {
      const key = leaseKey(lease)
      known.delete(key)
      begun.delete(key)
    },
    ended: (lease) => void known.delete(leaseKey(lease)),
    find: (lease) => known.get(leaseKey(lease))?.run,
    claimSentMs: (lease) => known.get(leaseKey(lease))?.claimSentMs,
    unbegun: (held) => held.filter((run) => !begun.has(leaseKey(run))).map(leaseOf),
    orphans(held) {
      const unknown = held.filter((run) => !known.has(leaseKey(run)))
      unconfirmed = new Map(unknown.map((run) => [leaseKey(run), unconfirmed.get(leaseKey(run)) ?? claims]))
      const oldest = Math.min(Number.POSITIVE_INFINITY, ...inFlight)
      const orphans = unknown.filter((run) => oldest > (unconfirmed.get(leaseKey(run)) ?? 0))
      // Forget runs that are neither known nor held.
      const heldKeys = new Set(held.map(leaseKey))
      for (const key of begun) if (!known.has(key) && !heldKeys.has(key)) begun.delete(key)
      return {
        neverBegan: orphans.filter((run) => !begun.has(leaseKey(run))).map(leaseOf),
        began: orphans.filter((run) => begun.has(leaseKey(run))).map(leaseOf),
      }
    },
  }
}
