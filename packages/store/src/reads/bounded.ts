/**
 * Counts with a bounded cost. The cost of counting a backlog or a history grows with it; a bounded count stops at its
 * bound and says that it stopped.
 */
import { sql, type RawBuilder } from 'kysely'

/** Exact unless `atLeast`: then there may be more. */
export interface Bounded {
  readonly count: number
  readonly atLeast: boolean
}

/** The bound of counts for people. */
export const countMax = 10_000

export const none: Bounded = { count: 0, atLeast: false }

/** `seen`: the number of rows found by a statement that reads at most one more than `most`. */
export function bounded(seen: number, most: number = countMax): Bounded {
  return { count: Math.min(seen, most), atLeast: seen > most }
}

export function sumOf(counts: readonly Bounded[]): Bounded {
  return counts.reduce((sum, one) => ({ count: sum.count + one.count, atLeast: sum.atLeast || one.atLeast }), none)
}

/** The number of these rows. Their query must have its own LIMIT. */
export function countOf(rows: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(SELECT count(*)::int FROM (${rows}) counted)`
}

/**
 * How long ago a time was, by the database's clock; negative for a future time. An infinite time, which only SQL can
 * write, gives an infinite age. PostgreSQL before version 17 cannot subtract such a time, so this subtracts epochs.
 */
export function agoMs(time: RawBuilder<unknown>): RawBuilder<number | null> {
  return sql<number | null>`((extract(epoch FROM clock_timestamp()) - extract(epoch FROM ${time})) * 1000)::float8`
}
