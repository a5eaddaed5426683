/**
 * What this process knows it holds: claims whose answer is under way, runs that wait for a slot, runs in execution until
 * their end is written. Compared with what the database says (reconcile.ts), it shows what went missing in between.
 */
import { leaseKey, leaseOf, type ClaimedRun, type HeldRun, type Lease } from '@q/store'

export interface Holdings {
  /**
   * From before the question is sent until its answer is known, a claim may hold runs that nobody here knows.
   * `sentMs`: when it is sent. What it claims or starts is not older.
   */
  claiming(sentMs: number, claim: () => Promise<ClaimedRun[]>): Promise<ClaimedRun[]>
  /** Its code begins, or may begin: it was handed to a thread or child. */
  begun(lease: Lease): void
  /** It was withdrawn: its code has not begun, and it is still held. */
  notBegun(lease: Lease): void
  /** Its end is written. */
  settled(lease: Lease): void
  /** Executed, given back or lost: it is nothing to us any more. */
  ended(lease: Lease): void
  find(lease: Lease): ClaimedRun | undefined
  /** When the claim or start that it is held by was sent: the first that others can have seen of it is not older. */
  askedMs(lease: Lease): number | undefined
  /** Those that the database says we hold and nobody here knows of, nor will. */
  orphans(held: readonly HeldRun[]): Orphans
  /** Those of them whose code has not begun here, known or not. If nothing begins any more, they never will. */
  unbegun(held: readonly HeldRun[]): readonly Lease[]
}

export interface Orphans {
  /** The code never began: safe to give back. */
  readonly neverBegan: readonly Lease[]
  readonly began: readonly Lease[]
}

export function createHoldings(): Holdings {
  const known = new Map<string, { readonly run: ClaimedRun; readonly askedMs: number }>()
  const begun = new Set<string>()
  /** Claims are counted; those under way by their number. */
  const underWay = new Set<number>()
  let claims = 0
  /** Held and not known, with the number of the last claim that may have brought it. */
  let suspects = new Map<string, number>()

  return {
    async claiming(sentMs, claim) {
      const number = ++claims
      underWay.add(number)
      try {
        const runs = await claim()
        for (const run of runs) known.set(leaseKey(run), { run, askedMs: sentMs })
        return runs
      } finally {
        underWay.delete(number)
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
    askedMs: (lease) => known.get(leaseKey(lease))?.askedMs,
    unbegun: (held) => held.filter((run) => !begun.has(leaseKey(run))).map(leaseOf),
    orphans(held) {
      const unknown = held.filter((run) => !known.has(leaseKey(run)))
      suspects = new Map(unknown.map((run) => [leaseKey(run), suspects.get(leaseKey(run)) ?? claims]))
      const oldest = Math.min(Number.POSITIVE_INFINITY, ...underWay)
      const orphans = unknown.filter((run) => oldest > (suspects.get(leaseKey(run)) ?? 0))
      // What is neither known nor held any more need not be remembered.
      const heldKeys = new Set(held.map(leaseKey))
      for (const key of begun) if (!known.has(key) && !heldKeys.has(key)) begun.delete(key)
      return {
        neverBegan: orphans.filter((run) => !begun.has(leaseKey(run))).map(leaseOf),
        began: orphans.filter((run) => begun.has(leaseKey(run))).map(leaseOf),
      }
    },
  }
}
