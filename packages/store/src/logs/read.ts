/** Reads the log lines of a run in order, a page at a time: by claim, then by number. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'

export interface LogCursor {
  readonly fence: number
  readonly lineNo: number
}

/** A line with its claim and its number, which are also the cursor of the next page. */
export interface LoggedLine extends LogCursor {
  readonly at: Date
  readonly level: number
  readonly line: string
  readonly facts: unknown
}

export interface LogRequest {
  /** Only lines after this one. */
  readonly after?: LogCursor
  readonly limit?: number
  /** The last lines, this many, instead of a page. */
  readonly last?: number
}

export interface LogPage {
  readonly lines: LoggedLine[]
  /** The cursor of the next page. Undefined: there are no more lines so far. */
  readonly next: LogCursor | undefined
}

const pageLines = 200
const pageLinesMax = 1_000

export async function readTaskLogs(db: Db, runId: RunId, request: LogRequest = {}): Promise<LogPage> {
  if (request.last !== undefined) return { lines: await lastLines(db, runId, request.last), next: undefined }
  const limit = atMost(request.limit ?? pageLines)
  const { fence, lineNo } = request.after ?? { fence: -1, lineNo: -1 }
  const rows = await db
    .selectFrom('q.task_log')
    .select(['fence', 'line_no as lineNo', 'logged_at as at', 'level', 'line', 'facts'])
    .where('run_id', '=', runId)
    .where(sql<boolean>`(fence, line_no) > (${fence}::int, ${lineNo}::int)`)
    .orderBy('fence')
    .orderBy('line_no')
    // One more than requested shows whether there is a next page.
    .limit(limit + 1)
    .execute()
  const lines = rows.slice(0, limit)
  const last = lines.at(-1)
  return {
    lines,
    next: rows.length > limit && last !== undefined ? { fence: last.fence, lineNo: last.lineNo } : undefined,
  }
}

async function lastLines(db: Db, runId: RunId, last: number): Promise<LoggedLine[]> {
  const rows = await db
    .selectFrom('q.task_log')
    .select(['fence', 'line_no as lineNo', 'logged_at as at', 'level', 'line', 'facts'])
    .where('run_id', '=', runId)
    .orderBy('fence', 'desc')
    .orderBy('line_no', 'desc')
    .limit(atMost(last))
    .execute()
  return rows.toReversed()
}

function atMost(lines: number): number {
  return Math.min(Math.max(1, Math.trunc(lines)), pageLinesMax)
}
