/** The detail of an action, or the filter of an operation, as a person reads it. Pure. The tooltips of the page have the JSON. */
import { duration } from './durations.ts'
import { visibleText } from './visible-text.ts'

/** `{"kind": "retry", "dryRun": true, "filter": {"status": ["failed"]}}` as `kind retry, dry run, status failed`. */
export function detailWords(detail: unknown): string {
  return typeof detail === 'object' && detail !== null && !Array.isArray(detail)
    ? membersOf(detail).join(', ')
    : detail === null || detail === undefined
      ? ''
      : scalar(detail)
}

function membersOf(detail: object): string[] {
  return Object.entries(detail).flatMap(([key, value]) => {
    const name = visibleText(key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
    if (typeof value === 'number' && name.endsWith(' ms')) return `${name.slice(0, -3)} ${duration(value)}`
    if (typeof value === 'boolean') return value ? name : `not ${name}`
    if (Array.isArray(value)) return `${name} ${value.map(scalar).join('|')}`
    return typeof value === 'object' && value !== null ? membersOf(value) : `${name} ${scalar(value)}`
  })
}

function scalar(value: unknown): string {
  if (value === null) return '–'
  const text = visibleText(typeof value === 'string' ? value : JSON.stringify(value))
  return typeof value === 'string' && /[\s,|"]|^$/.test(text) ? `“${text}”` : text
}
