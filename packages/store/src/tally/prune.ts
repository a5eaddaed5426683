/**
 * Removes old records for operators: counts, samples, gaps between heartbeats, error groups that no longer occur, ended
 * operations and actions. Removes a bounded number of rows of each kind at a time.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface OperatePruneRequest {
  /** How long samples of queues and gaps between heartbeats are kept. */
  readonly samplesKeptMs: number
  /** How long counts per hour, groups of errors since their last occurrence, and ended operations are kept. */
  readonly tallyKeptMs: number
  /** How long actions are kept. */
  readonly actionsKeptMs: number
  /** Rows of each kind at a time. */
  readonly limit: number
}

const errorHoursKeptMs = 7 * 86_400_000
/** The most error groups kept; those that occurred longest ago are removed first. */
const errorGroupsMax = 10_000
/** A replica that was cut off for less than this can repeat an unanswered flush without counting twice. */
const flushNumbersKeptMs = 2 * 86_400_000

/** Returns the largest number of rows removed of one kind; fewer than `limit` means that none is left. */
export async function pruneOperate(db: Db, request: OperatePruneRequest): Promise<number> {
  const { samplesKeptMs, tallyKeptMs, actionsKeptMs, limit } = request
  const before = (keptMs: number) => sql`clock_timestamp() - ${keptMs}::float8 * interval '1 ms'`
  const kinds: Record<string, RawBuilder<unknown>> = {
    run_tally: sql`SELECT ctid FROM q.run_tally WHERE width_s = 3600 AND bucket_at < ${before(tallyKeptMs)} LIMIT ${limit}`,
    tally_flush: sql`SELECT f.ctid FROM q.tally_flush f WHERE f.flushed_at < ${before(flushNumbersKeptMs)}
      AND NOT EXISTS (SELECT FROM q.replica n WHERE n.id = f.replica_id AND n.stopped_at IS NULL) LIMIT ${limit}`,
    queue_sample: sql`SELECT s.ctid FROM (SELECT DISTINCT queue FROM q.lane UNION SELECT name FROM q.queue) known(queue)
      CROSS JOIN LATERAL (SELECT ctid FROM q.queue_sample WHERE queue = known.queue AND sampled_at < ${before(samplesKeptMs)}
        LIMIT ${limit}) s LIMIT ${limit}`,
    beat_gap: sql`SELECT ctid FROM q.beat_gap WHERE ended_at < ${before(samplesKeptMs)} LIMIT ${limit}`,
    error_tally: sql`SELECT ctid FROM q.error_tally WHERE bucket_at < ${before(errorHoursKeptMs)} LIMIT ${limit}`,
    error_group: sql`(SELECT ctid FROM q.error_group WHERE last_seen < ${before(tallyKeptMs)} LIMIT ${limit})
      UNION (SELECT ctid FROM q.error_group ORDER BY last_seen DESC, fingerprint DESC OFFSET ${errorGroupsMax} LIMIT ${limit})`,
    operation: sql`SELECT ctid FROM q.operation WHERE finished_at < ${before(tallyKeptMs)} LIMIT ${limit}`,
    action: sql`SELECT ctid FROM q.action WHERE acted_at < ${before(actionsKeptMs)} LIMIT ${limit}`,
  }
  const counts = []
  for (const [table, old] of Object.entries(kinds)) counts.push(await prune(db, table, old))
  return Math.max(...counts)
}

async function prune(db: Db, table: string, old: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows = 0n } =
    await sql`DELETE FROM ${sql.table(`q.${table}`)} t USING (${old}) old WHERE t.ctid = old.ctid`.execute(db)
  return Number(numAffectedRows)
}
