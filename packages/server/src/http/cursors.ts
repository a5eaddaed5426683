/** Opaque cursors: a position in one list. A cursor of another list or filter is refused. */
import { createHash } from 'node:crypto'
import { Refusal } from './refusal.ts'
import type { Cursors } from './route-call.ts'

const version = 1
/** Members of a query that may change from page to page. */
const free = new Set(['cursor', 'limit', 'look'])

export function cursorsOf(route: string, query: object): Cursors {
  const conditions = Object.entries(query)
    .filter(([name]) => !free.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const list = createHash('sha256')
    .update(JSON.stringify([route, conditions]))
    .digest('base64url')
    .slice(0, 12)
  return {
    open(cursor) {
      if (cursor === undefined) return {}
      const [ofVersion, ofList, place] = partsOf(cursor)
      if (ofVersion !== version || typeof place !== 'string') throw invalid()
      if (ofList !== list) throw ofOtherList()
      return { cursor: place }
    },
    seal: (next) =>
      next === undefined ? {} : { next: Buffer.from(JSON.stringify([version, list, next])).toString('base64url') },
  }
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function invalid(): Refusal {
  return new Refusal(400, {
    code: 'CURSOR_INVALID',
    what: 'The cursor is not the beginning of a page.',
    why: 'A cursor is the `next` of the previous page, unchanged.',
    fix: 'Leave the cursor out to begin with the first page.',
  })
}

function ofOtherList(): Refusal {
  return new Refusal(400, {
    code: 'CURSOR_OF_OTHER_LIST',
    what: 'The cursor belongs to another list.',
    why: 'It was made for another filter or another resource.',
    fix: 'Keep the filter while paging, or leave the cursor out.',
  })
}
