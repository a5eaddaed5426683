/** Lists groups of errors with the same cause, last seen first. Takes no locks, and does not read runs or attempts. */
import { sql, type RawBuilder } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { placeOf, refuseCursor, type ListRequest, type Page } from '../page.ts'
import { inSnapshot } from '../snapshot.ts'

export interface ErrorGroup {
  /** 16 hexadecimal digits, or the text that the code gave. */
  readonly fingerprint: string
  readonly code: string
  /** Class of the error. */
  readonly name: string
  /** The text, with placeholders for numbers, ids, times, quoted text and paths. */
  readonly message: string
  readonly place: string | null
  readonly tasks: readonly string[]
  readonly versions: readonly string[]
  readonly firstSeen: Date
  readonly lastSeen: Date
  readonly seen: number
  readonly lastRunId: RunId
  /** Null: the group is not muted. */
  readonly mutedUntil: Date | null
  readonly mutedBy: string | null
  /** Counts of the last 24 hours, oldest first. */
  readonly hours: readonly { readonly at: Date; readonly seen: number }[]
}

export interface ErrorGroupRequest extends ListRequest {
  readonly task?: string
  /** True: only muted groups. False: only groups that are not muted. */
  readonly muted?: boolean
  /** Read at most this many groups, whether they match or not; at most 10 000, which is the default. */
  readonly look?: number
}

/** A page that is not full but has a `next` has not read all older groups. */
export interface ErrorGroupPage extends Page<ErrorGroup> {
  /** When the last group that was read was last seen; null: all were read. */
  readonly lookedBackTo: Date | null
  /** Whether all groups were read, so that none is missing. */
  readonly exhausted: boolean
}

interface GroupRow extends Omit<ErrorGroup, 'hours'> {
  readonly cursor: string
  readonly hourMs: number
  readonly tallied: readonly { readonly ms: number; readonly seen: number }[]
}

const lookMax = 10_000

export async function listErrorGroups(db: Db, request: ErrorGroupRequest = {}): Promise<ErrorGroupPage> {
  const { task, muted, cursor, look: most = lookMax, ...page } = request
  const { limit } = placeOf(page)
  const look = Math.min(Math.max(1, Math.trunc(most)), lookMax)
  const isMuted = sql<boolean>`(e.muted_until > ${statementTime}) IS TRUE`
  const conditions = [
    sql<boolean>`true`,
    ...(task === undefined ? [] : [sql<boolean>`${task} = ANY(e.tasks)`]),
    ...(muted === undefined ? [] : [muted ? isMuted : sql<boolean>`NOT (${isMuted})`]),
  ]
  const newest = (count: number) => sql`
    SELECT e.* FROM q.error_group e WHERE ${before(cursor)} ORDER BY e.last_seen DESC, e.fingerprint DESC LIMIT ${count}::int`
  return inSnapshot(db, async (reads) => {
    const rows = await groupRows(
      reads,
      sql`(SELECT e.* FROM (${newest(look)}) e WHERE ${sql.join(conditions, sql` AND `)}
        ORDER BY e.last_seen DESC, e.fingerprint DESC LIMIT ${limit + 1}::int)`,
    )
    const shown = rows.slice(0, limit)
    const last = rows.length > limit ? shown.at(-1) : await lastOfLooked(reads, newest(look + 1), look)
    return {
      items: shown.map(groupOf),
      next: last?.cursor,
      lookedBackTo: last?.lastSeen ?? null,
      exhausted: last === undefined,
    }
  })
}

/** The last group that was read, if there are groups after it. */
async function lastOfLooked(
  db: Db,
  groups: RawBuilder<unknown>,
  look: number,
): Promise<Pick<GroupRow, 'cursor' | 'lastSeen'> | undefined> {
  const { rows } = await sql<Pick<GroupRow, 'cursor' | 'lastSeen'>>`
SELECT e.last_seen AS "lastSeen", ${cursorOf} AS cursor FROM (${groups}) e
ORDER BY e.last_seen DESC, e.fingerprint DESC OFFSET ${look - 1}::int`.execute(db)
  return rows.length > 1 ? rows[0] : undefined
}

const cursorOf = sql<string>`concat((extract(epoch FROM e.last_seen) * 1000000)::bigint, '.', e.fingerprint)`

/** Finds a group by its fingerprint or the beginning of it. Undefined: none or more than one matches. */
export async function getErrorGroup(db: Db, text: string): Promise<ErrorGroup | undefined> {
  if (text === '') return undefined
  const found = await groupRows(
    db,
    sql`(SELECT e.* FROM q.error_group e WHERE starts_with(e.fingerprint, ${text}) LIMIT 100)`,
  )
  const exact = found.find(({ fingerprint }) => fingerprint === text)
  const [only, another] = found
  const meant = exact ?? (another === undefined ? only : undefined)
  return meant === undefined ? undefined : groupOf(meant)
}

async function groupRows(db: Db, groups: RawBuilder<unknown>): Promise<GroupRow[]> {
  const { rows } = await sql<GroupRow>`
SELECT e.fingerprint, e.code, e.name, e.message, e.place, e.tasks, e.versions, e.first_seen AS "firstSeen", e.last_seen AS "lastSeen",
  e.seen::float8 AS seen, e.last_run_id AS "lastRunId", live.until AS "mutedUntil", CASE WHEN live.until IS NOT NULL THEN e.muted_by END AS "mutedBy",
  ${cursorOf} AS cursor,
  (extract(epoch FROM date_trunc('hour', ${statementTime})) * 1000)::float8 AS "hourMs",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('ms', extract(epoch FROM t.bucket_at) * 1000, 'seen', t.seen)), '[]') FROM q.error_tally t
    WHERE t.fingerprint = e.fingerprint AND t.bucket_at > ${statementTime} - interval '25 hours') AS tallied
FROM ${groups} e CROSS JOIN LATERAL (SELECT CASE WHEN e.muted_until > ${statementTime} THEN e.muted_until END AS until) live
ORDER BY e.last_seen DESC, e.fingerprint DESC`.execute(db)
  return rows
}

function groupOf({ cursor: _, hourMs, tallied, ...group }: GroupRow): ErrorGroup {
  const seenAt = new Map(tallied.map(({ ms, seen }) => [ms, seen]))
  const hours = Array.from({ length: 24 }, (__, place) => hourMs - (23 - place) * 3_600_000)
  return { ...group, hours: hours.map((ms) => ({ at: new Date(ms), seen: seenAt.get(ms) ?? 0 })) }
}

function before(cursor: string | undefined): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`true`
  const [, microseconds, fingerprint] = /^(\d{1,18})\.(.+)$/s.exec(cursor) ?? refuseCursor(cursor)
  return sql<boolean>`
    (e.last_seen, e.fingerprint) < (timestamptz 'epoch' + ${microseconds}::float8 * interval '1 microsecond', ${fingerprint}::text)`
}
