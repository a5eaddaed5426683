/** Formats a document, or some of its members, as one line of JSON. Pure. */
import { ExplainedError } from '@q/schema'

/** `fields` selects members of each item of a list, or of a document that is not a list. */
export function answerText(document: object, fields?: string): string {
  if (fields === undefined) return JSON.stringify(document)
  const names = fields.split(',').map((name) => name.trim())
  const lists = Object.entries(document).filter(([, value]) => Array.isArray(value) && value.every(isObject))
  const [only] = lists
  if (only === undefined || lists.length > 1) return JSON.stringify(picked(document, names))
  const [key, items] = only as [string, readonly object[]]
  return JSON.stringify({ ...document, [key]: items.map((item) => picked(item, names)) })
}

function picked(value: object, names: readonly string[]): object {
  const known = Object.keys(value)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return Object.fromEntries(names.map((name) => [name, Reflect.get(value, name)]))
  throw new ExplainedError({
    code: 'FIELD_UNKNOWN',
    what: `The answer has no ${unknown.join(', ')}.`,
    why: '--fields names members of the document, or of the items of its list.',
    fix: `Use ${known.join(', ')}.`,
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
