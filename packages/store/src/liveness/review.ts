/**
 * Marks recoveries as reviewed: a person has looked at what the recovery did, and accepts it. A recovery that failed its run
 * needs a review; any other may be reviewed. A manual retry of a failed run counts as a review too (runs/retry.ts).
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface Review {
  /** Ids of recoveries. */
  readonly ids?: readonly string[]
  /** All recoveries of these runs. */
  readonly runIds?: readonly string[]
  readonly by: string
}

/** A condition on a recovery `v`, written exactly like the index recovery_to_review. */
export const needsReview: RawBuilder<boolean> = sql<boolean>`(v.became = 'FAILED' AND v.reviewed_at IS NULL)`

/** Returns the number of recoveries that were not reviewed before. */
export async function reviewRecoveries(db: Db, { ids = [], runIds = [], by }: Review): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    UPDATE q.recovery v SET reviewed_at = clock_timestamp(), reviewed_by = ${by}
    WHERE v.reviewed_at IS NULL AND (v.id = ANY(${ids}::bigint[]) OR v.run_id = ANY(${runIds}::bigint[]))`.execute(db)
  return Number(numAffectedRows)
}

/** Part of a statement that retries runs; `retried` has their ids. */
export function reviewedByRetry(retried: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`reviewed AS (
  UPDATE q.recovery v SET reviewed_at = clock_timestamp(), reviewed_by = 'a retry'
  WHERE ${needsReview} AND v.run_id = ANY(ARRAY(SELECT id FROM ${retried}))
)`
}
