/**
 * Appends log lines of the code of many runs in one statement, each under its lease.
 *
 * A line belongs to a claim (run, fence) and has a number in it: sent twice, it is stored once. The lease is valid while
 * the run is RUNNING, and after its holder ended it under the same fence: the last lines may arrive late. After the claim
 * was revoked, no line is stored, and an event records that. The check takes no lock: a line that arrives while the lease
 * is being lost is stored under its own claim.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import { auditRefusedWrites } from '../events/audit-refused-writes.ts'
import { leaseKey, type Lease } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { logLimits, storableFacts, storableLevel, storableLine } from './storable-line.ts'

export interface LogLine {
  readonly lease: Lease
  /** From 1 within one claim; at most 10 000 are kept. */
  readonly lineNo: number
  /** Level as in pino: 30 is info. */
  readonly level: number
  /** Cut at 8 KiB. */
  readonly line: string
  readonly facts?: unknown
  /** How long ago it was logged. */
  readonly ageMs: number
}

export interface LogAnswer {
  readonly lease: Lease
  readonly answer: 'ok' | 'lost'
}

const linesAtOnceMax = 1_000

/** Returns one answer per lease, in the order of their first lines. */
export async function appendTaskLogs(db: Db, lines: readonly LogLine[]): Promise<LogAnswer[]> {
  const leases = new Map(lines.map(({ lease }) => [leaseKey(lease), lease]))
  const lost = new Map<string, Lease>()
  for (let first = 0; first < lines.length; first += linesAtOnceMax) {
    const part = lines.slice(first, first + linesAtOnceMax)
    const { rows } = await db.executeQuery(appendStatement(part))
    const held = new Set(rows.map(leaseKey))
    for (const { lease } of part) if (!held.has(leaseKey(lease))) lost.set(leaseKey(lease), lease)
  }
  await auditRefusedWrites(db, 'refused-log', [...lost.values()])
  return [...leases].map(([key, lease]) => ({ lease, answer: lost.has(key) ? 'lost' : 'ok' }))
}

/** The statement returns the valid leases. */
export function appendStatement(lines: readonly LogLine[]): CompiledQuery<Lease> {
  return append({ lines: `[${lines.map(rowText).join(',')}]` })
}

// Written in SQL: an array in, lines stored, and an answer from the runs themselves.
const append = prepared<{ readonly lines: string }, Lease>(
  'append-logs',
  ({ lines }) => sql<Lease>`
WITH given AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(${lines}::jsonb) AS g(
    run_id bigint, fence int, line_no int, level smallint, age_ms float8, line text, facts jsonb)
), held AS MATERIALIZED (
  SELECT given.* FROM given JOIN q.task_run r ON r.id = given.run_id AND r.fence = given.fence
  WHERE r.status = 'RUNNING' OR r.finished_at IS NOT NULL
), written AS (
  INSERT INTO q.task_log (run_id, fence, line_no, logged_at, level, line, facts)
  SELECT run_id, fence, line_no, clock_timestamp() - age_ms * interval '1 ms', level, line, facts FROM held
  WHERE line_no BETWEEN 1 AND ${logLimits.linesMax}
  ORDER BY run_id, fence, line_no
  ON CONFLICT DO NOTHING
)
SELECT DISTINCT run_id AS "runId", fence FROM held`,
)

function rowText({ lease, lineNo, level, line, facts, ageMs }: LogLine): string {
  const isKept = Number.isInteger(lineNo) && lineNo >= 1 && lineNo <= logLimits.linesMax
  const rest = JSON.stringify({
    run_id: lease.runId,
    fence: lease.fence,
    line_no: isKept ? lineNo : 0,
    level: storableLevel(level),
    age_ms: Number.isFinite(ageMs) ? Math.max(0, ageMs) : 0,
    line: isKept ? storableLine(line) : '',
  })
  return `${rest.slice(0, -1)},"facts":${isKept ? storableFacts(facts) : 'null'}}`
}
