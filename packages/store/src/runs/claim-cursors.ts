/**
 * Cursors: where claims begin to read the ready index while it is full of entries that PostgreSQL cannot remove yet,
 * because a session holds an old snapshot. A claim takes the oldest runs, so it would read all of these entries.
 *
 * A slow look gives each candidate a cursor at its oldest run, and a claim that got all it asked for moves the cursor to
 * the last run it took. A run that becomes ready before the cursor is not lost: a look reads from the beginning and
 * replaces every cursor. The next look follows after ten times as long as the last one took, and after a second at
 * the latest; wakes and the poll interval invalidate cursors earlier. After a quick look there are no cursors.
 * Why: docs/decisions/0023-cursors-past-dead-entries.md.
 */
import type { Candidate } from './fair-shares.ts'

/** A place in the order of age, in which a claim takes the runs of a candidate. */
export interface Cursor {
  /** JSON text, exact to the microsecond. */
  readonly runAt: string
  readonly id: string
}

export const firstCursor: Cursor = { runAt: '-infinity', id: '0' }

/** A candidate as a look returns it. */
export interface LookRow extends Omit<Candidate, 'from'> {
  readonly fromRunAt: string
  readonly fromId: string
  /** How long the look had taken when it returned this row. */
  readonly lookMs: number
}

/** A look that takes this long is slow: about ten times as long as one at an index without dead entries. */
const slowLookMs = 10
/** Cursors last this many times as long as the look took. */
const lookTimes = 10
const cursorsLastMsMax = 1_000

/** Returns how long the cursors of a look of this duration last; 0: it gives none. */
export function cursorsLastMs(lookMs: number): number {
  return lookMs < slowLookMs ? 0 : Math.min(lookMs * lookTimes, cursorsLastMsMax)
}

export interface ClaimCursors {
  /** Whether the cursors of the last look are too old: the next exchange looks again. */
  readonly expired: boolean
  /** Returns the candidates of a look, with cursors if it was slow. */
  looked(rows: readonly LookRow[]): readonly Candidate[]
}

export interface CursorOptions {
  readonly nowMs?: () => number
  readonly lastMs?: typeof cursorsLastMs
}

export function createClaimCursors({
  nowMs = () => performance.now(),
  lastMs = cursorsLastMs,
}: CursorOptions): ClaimCursors {
  let expiresMs = Number.POSITIVE_INFINITY
  return {
    get expired() {
      return nowMs() >= expiresMs
    },
    looked(rows) {
      const forMs = lastMs(rows.at(-1)?.lookMs ?? 0)
      expiresMs = forMs > 0 ? nowMs() + forMs : Number.POSITIVE_INFINITY
      return rows.map(({ fromRunAt, fromId, lookMs: _, ...candidate }) =>
        forMs > 0 ? { ...candidate, from: { runAt: fromRunAt, id: fromId } } : candidate,
      )
    },
  }
}
