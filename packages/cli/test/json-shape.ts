/** The shape of a JSON value: names of members and kinds of values, so that a snapshot does not depend on ids and times. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]))
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value)) return 'time'
  return typeof value
}
