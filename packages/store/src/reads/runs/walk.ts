/**
 * Reads runs in the order of an index until the page is full or a bounded number has been read, and returns the
 * position it reached. So a filter that few runs match costs no more than one that all match.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { asRunId, type RunId } from '../../lease.ts'
import { refuseCursor } from '../page.ts'

export interface Walk {
  /** The FROM clause with its joins. The run is `r`. */
  readonly from: RawBuilder<unknown>
  /** The condition for rows of the walk, which are read by key, then by id. */
  readonly where: RawBuilder<unknown>
  readonly key: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly order: 'ASC' | 'DESC'
  /** The type of the key. `id`: the id of the run. `number`: another id. */
  readonly keyKind: 'id' | 'time' | 'number'
  /** Keys are unique in this walk, so an index on the key alone gives the order. */
  readonly isKeyUnique?: boolean
  /** A further condition for showing a run that was read. */
  readonly shows: RawBuilder<boolean>
  /** The most rows of the walk, whatever the page allows. */
  readonly lookMax?: number
}

export interface Walked {
  readonly ids: readonly RunId[]
  readonly next: string | undefined
  readonly looked: number
  readonly lookedBackTo: Date | null
  readonly exhausted: boolean
}

export interface WalkRequest {
  readonly matches: RawBuilder<boolean>
  readonly cursor: string | undefined
  readonly limit: number
  readonly look: number
}

interface WalkedRow {
  readonly id: RunId
  readonly cursor: string
  readonly place: number
  readonly createdAt: Date
  readonly shown: boolean
}

export async function walkRuns(db: Db, walk: Walk, { matches, cursor, limit, look }: WalkRequest): Promise<Walked> {
  const lookMax = Math.min(look, walk.lookMax ?? look)
  const order = walk.order === 'ASC' ? sql`ASC` : sql`DESC`
  const inOrder = (key: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
    walk.isKeyUnique === true ? sql`${key} ${order}` : sql`${key} ${order}, ${id} ${order}`
  const places = inOrder(sql`looked.key`, sql`looked.id`)
  // The result includes the last run read even if it does not match, because it marks the position.
  const { rows } = await sql<WalkedRow>`
SELECT seen.id, ${cursorText(walk)} AS cursor, seen.place::float8 AS place, seen.created_at AS "createdAt", seen.shown FROM (
  SELECT looked.*, row_number() OVER (ORDER BY ${places}) AS place, lead(looked.id) OVER (ORDER BY ${places}) IS NULL AS is_last
  FROM (
    SELECT r.id, ${walk.key} AS key, r.created_at, (${walk.shows} AND ${matches}) IS TRUE AS shown
    FROM ${walk.from} WHERE ${walk.where} AND ${after(walk, cursor)}
    ORDER BY ${inOrder(walk.key, walk.id)} LIMIT ${lookMax}::int) looked
) seen WHERE seen.shown OR seen.is_last ORDER BY ${inOrder(sql`seen.key`, sql`seen.id`)} LIMIT ${limit + 1}::int`.execute(
    db,
  )
  return walkedOf(rows, limit, lookMax)
}

function walkedOf(rows: readonly WalkedRow[], limit: number, lookMax: number): Walked {
  const shown = rows.filter((row) => row.shown)
  const isFull = shown.length > limit
  const last = isFull ? shown[limit - 1] : rows.at(-1)
  const exhausted = !isFull && (last?.place ?? 0) < lookMax
  return {
    ids: shown.slice(0, limit).map((row) => row.id),
    next: exhausted ? undefined : last?.cursor,
    looked: last?.place ?? 0,
    lookedBackTo: last?.createdAt ?? null,
    exhausted,
  }
}

/** Keeps the microseconds of times, which a Date would lose. An infinite time is `Infinity` or `-Infinity`. */
function cursorText({ keyKind }: Walk): RawBuilder<string> {
  if (keyKind === 'id') return sql<string>`seen.id::text`
  const key = keyKind === 'time' ? sql`trim_scale(extract(epoch FROM seen.key) * 1000000)` : sql`seen.key`
  return sql<string>`concat(${key}, '.', seen.id)`
}

function after({ keyKind, key, id, order }: Walk, cursor: string | undefined): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`true`
  const beyond = order === 'ASC' ? sql`>` : sql`<`
  if (keyKind === 'time') return sql<boolean>`(${key}, ${id}) ${beyond} (${placeOfTime(cursor)})`
  const parts = cursor.split('.')
  if (parts.length !== (keyKind === 'id' ? 1 : 2) || parts.some((part) => asRunId(part) === undefined))
    refuseCursor(cursor)
  const [first = '', second = ''] = parts
  if (keyKind === 'id') return sql<boolean>`${id} ${beyond} ${first}::bigint`
  return sql<boolean>`(${key}, ${id}) ${beyond} (${first}::bigint, ${second}::bigint)`
}

/** The time and the id of a cursor, for a row comparison. */
export function placeOfTime(cursor: string): RawBuilder<unknown> {
  const [, time = '', id = ''] = /^(-?(?:\d{1,18}|Infinity))\.(\d+)$/.exec(cursor) ?? []
  if (asRunId(id) === undefined) refuseCursor(cursor)
  const at = time.endsWith('Infinity')
    ? sql`${time}::timestamptz`
    : sql`timestamptz 'epoch' + ${time}::float8 * interval '1 microsecond'`
  return sql`${at}, ${id}::bigint`
}
