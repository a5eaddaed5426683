/**
 * Pages of lists that are ordered by id, newest first. Rows added in the meantime neither shift nor repeat later pages.
 */
import { ExplainedError } from '@q/schema'
import { asRunId } from '../lease.ts'

export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; undefined on the last. */
  readonly next: string | undefined
}

export interface ListRequest {
  /** `next` of the previous page. */
  readonly cursor?: string
  readonly limit?: number
}

const pageItems = 50
const pageItemsMax = 500

/** Returns the number of items to read and the id that they are below. Throws `CURSOR_INVALID`. */
export function placeOf({ cursor, limit = pageItems }: ListRequest): { limit: number; before: string | undefined } {
  if (cursor !== undefined && asRunId(cursor) === undefined) refuseCursor(cursor)
  return { limit: Math.min(Math.max(1, Math.trunc(limit)), pageItemsMax), before: cursor }
}

/** `found`: the rows read, one more than `limit` if there are more. */
export function pageOf<T extends { readonly id: string }>(found: readonly T[], limit: number): Page<T> {
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined }
}

export function refuseCursor(cursor: string): never {
  throw new ExplainedError({
    code: 'CURSOR_INVALID',
    what: `"${cursor}" is not the beginning of a page.`,
    why: 'A cursor is the `next` of the previous page, unchanged.',
    fix: 'Leave the cursor out to begin with the newest.',
  })
}
