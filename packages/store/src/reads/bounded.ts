/**
 * Counts whose cost has a limit. A count of a backlog or of a history grows with it; a count that stops at its bound does
 * not, and says that it stopped.
 */
import { sql, type RawBuilder } from 'kysely'

/** Exact unless `atLeast`: then there may be more. */
export interface Bounded {
  readonly count: number
  readonly atLeast: boolean
}

/** Counts for people stop here. */
export const countMax = 10_000

export const none: Bounded = { count: 0, atLeast: false }

/** `seen`: how many rows a statement found that looked for one more than `most`. */
export function bounded(seen: number, most: number = countMax): Bounded {
  return { count: Math.min(seen, most), atLeast: seen > most }
}

export function sumOf(counts: readonly Bounded[]): Bounded {
  return counts.reduce((sum, one) => ({ count: sum.count + one.count, atLeast: sum.atLeast || one.atLeast }), none)
}

/** The number of these rows. They must have a LIMIT of their own. */
export function countOf(rows: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(SELECT count(*)::int FROM (${rows}) counted)`
}

/** How long ago, by the database's clock; negative: it is to come. */
export function agoMs(time: RawBuilder<unknown>): RawBuilder<number | null> {
  return sql<number | null>`(extract(epoch FROM clock_timestamp() - ${time}) * 1000)::float8`
}
