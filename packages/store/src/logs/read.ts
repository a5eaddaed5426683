/** What a run's code logged, in order, a page at a time: by claim, then by number. No locks. */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'

export interface LogPlace {
  readonly fence: number
  readonly lineNo: number
}

/** The claim it belongs to, and its number in it: also the place to go on after. */
export interface LoggedLine extends LogPlace {
  readonly at: Date
  readonly level: number
  readonly line: string
  readonly facts: unknown
}

export interface LogRequest {
  /** Only lines after this one. */
  readonly after?: LogPlace
  readonly limit?: number
}

export interface LogPage {
  readonly lines: LoggedLine[]
  /** After which the next page begins; undefined: there are no more, so far. */
  readonly next: LogPlace | undefined
}

const pageLines = 200
const pageLinesMax = 1_000

export async function readTaskLogs(db: Db, runId: RunId, request: LogRequest = {}): Promise<LogPage> {
  const limit = Math.min(Math.max(1, Math.trunc(request.limit ?? pageLines)), pageLinesMax)
  const { fence, lineNo } = request.after ?? { fence: -1, lineNo: -1 }
  const rows = await db
    .selectFrom('q.task_log')
    .select(['fence', 'line_no as lineNo', 'logged_at as at', 'level', 'line', 'facts'])
    .where('run_id', '=', runId)
    .where(sql<boolean>`(fence, line_no) > (${fence}::int, ${lineNo}::int)`)
    .orderBy('fence')
    .orderBy('line_no')
    // One more than asked for tells whether there is a next page.
    .limit(limit + 1)
    .execute()
  const lines = rows.slice(0, limit)
  const last = lines.at(-1)
  return {
    lines,
    next: rows.length > limit && last !== undefined ? { fence: last.fence, lineNo: last.lineNo } : undefined,
  }
}
