/**
 * A holder presents its lease with every write. Every claim and every reap raises the fence, so a lost lease no longer
 * matches a row, even if the same replica has claimed the same run again.
 */

declare const brand: unique symbol
/** A bigint in the database; a decimal string here and in JSON. */
export type RunId = string & { readonly [brand]: 'RunId' }

export interface Lease {
  readonly runId: RunId
  readonly fence: number
}

/** A lease without the branded id, as task code gets it: `ctx.lease`. */
export interface PlainLease {
  readonly runId: string
  readonly fence: number
}

/** Returns a text from a person or a program as a run id, or undefined if it cannot be one. */
export function asRunId(text: string): RunId | undefined {
  return isId(text) ? (text as RunId) : undefined
}

/** Whether the text is a positive bigint of the database. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= 2n ** 63n - 1n
}

export interface LeaseColumns {
  readonly ids: readonly string[]
  readonly fences: readonly number[]
}

/** Returns the lease of an object that contains one. */
export function leaseOf({ runId, fence }: Lease): Lease {
  return { runId, fence }
}

/** Leases as the two arrays that batched statements take. */
export function columnsOf(leases: readonly Lease[]): LeaseColumns {
  return { ids: leases.map((lease) => lease.runId), fences: leases.map((lease) => lease.fence) }
}

/**
 * Orders leases by run, so that two batches take their locks in one order. Ids are decimal texts without leading zeros.
 */
export function byRun({ runId: a }: Lease, { runId: b }: Lease): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b))
}

/** One text per lease: a batch may contain a run twice, under a valid lease and a lost one. */
export function leaseKey(lease: Lease): string {
  return `${lease.runId}/${lease.fence}`
}
