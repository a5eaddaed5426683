/** Completes a text in the filter: first its key, then the values that are known for it. Pure. */
import { type FilterKey, filterKeys, parseToken, states, type FilterToken } from './filter.ts'

export interface Suggestion {
  readonly label: string
  readonly hint: string
  /** What it adds; undefined: it only completes the text. */
  readonly token?: FilterToken
  readonly typed: string
}

type Known = Readonly<Record<'node' | 'queue' | 'task', readonly string[]>>
const shownMax = 12
const since = ['15m', '1h', '24h', 'today', 'yesterday']
const before = ['1h', '24h', 'today']

export function suggestionsFor(text: string, known: Known): Suggestion[] {
  const typed = text.trimStart().toLowerCase()
  const values = valuesOf(known)
  const [, key = '', begun = ''] = /^([\w-]+)[:=\s](.*)$/.exec(typed) ?? []
  const own = values[key as FilterKey]
  if (own !== undefined)
    return own
      .filter((value) => value.toLowerCase().includes(begun.trim()))
      .slice(0, shownMax)
      .map((value) => asToken(key as FilterKey, value))
  const token = parseToken(text)
  if (token !== undefined) return [{ label: `${token.key} ${token.value}`, hint: 'enter adds it', token, typed: '' }]
  const keys = Object.entries(filterKeys)
    .filter(([name]) => name.startsWith(typed))
    .map(([name, hint]): Suggestion => ({ label: name, hint, typed: name === 'payload' ? 'payload.' : `${name} ` }))
  const found =
    typed.length < 2
      ? []
      : Object.entries(values).flatMap(([name, all]) =>
          all.filter((value) => value.toLowerCase().includes(typed)).map((value) => asToken(name as FilterKey, value)),
        )
  return [...keys, ...found.slice(0, shownMax)]
}

function valuesOf(known: Known): Partial<Record<FilterKey, readonly string[]>> {
  return {
    ...known,
    status: states.map((state) => state.toLowerCase()),
    since,
    before,
    'ended-since': since,
    'ended-before': before,
  }
}

function asToken(key: FilterKey, value: string): Suggestion {
  return { label: `${key} ${value}`, hint: '', token: { key, value }, typed: '' }
}
