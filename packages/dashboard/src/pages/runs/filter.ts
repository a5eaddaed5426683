/**
 * The filter of the list of runs: tokens that stand in the address, so that a link is a saved view. One query string, one writer.
 * Pure; the time of the server is given.
 */
import { shellWord, timeOf, waysToWriteTimes } from '@q/server/client'
import type { TaskState } from '../../api/contract.ts'
import { visibleText } from '../../words/visible-text.ts'

export const filterKeys = {
  status: 'a state: failed, running, waiting …',
  task: 'a task',
  queue: 'a queue',
  group: 'a group (tenant)',
  node: 'the node that holds it, or held it last',
  since: 'enqueued since 13:02, 1h, yesterday',
  before: 'enqueued before 13:02, 1h, yesterday',
  'ended-since': 'ended since 13:02, 1h, yesterday',
  'ended-before': 'ended before 13:02, 1h, yesterday',
  code: 'the code of its end, as WORKER_CRASHED',
  payload: 'a member of its payload, as payload.url~cdn',
  key: 'its unique key',
  error: 'the fingerprint of its error',
  workflow: 'a workflow, by id',
  schedule: 'the schedule that enqueued it',
} as const satisfies Record<string, string>

export type FilterKey = keyof typeof filterKeys
export interface FilterToken {
  readonly key: FilterKey
  readonly value: string
}

/** The filter as the API reads it, in a query and in an operation. */
export type ApiFilter = Readonly<Record<string, string | readonly string[]>>

export const states: readonly TaskState[] = [
  'PENDING',
  'AVAILABLE',
  'CLAIMED',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'EXPIRED',
  'SKIPPED',
]

/** Names of states in other systems, which the API reads too. For people, "pending" includes runs that can be claimed now. */
const otherNames: Readonly<Record<string, readonly TaskState[]>> = {
  QUEUED: ['AVAILABLE'],
  PENDING: ['PENDING', 'AVAILABLE'],
  GATED: ['PENDING'],
  'IN-PROGRESS': ['CLAIMED', 'RUNNING'],
  BUILDING: ['RUNNING'],
  UPLOADING: ['RUNNING'],
  DONE: ['SUCCEEDED'],
  COMPLETED: ['SUCCEEDED'],
  CANCELED: ['CANCELLED'],
  'DEP-FAILED': ['SKIPPED'],
}

/** The states that a name means, in upper or lower case; none: it is not the name of a state. */
export function statesOfName(name: string): readonly TaskState[] {
  const known = name.trim().toUpperCase().replaceAll('_', '-')
  return otherNames[known] ?? states.filter((state) => state === known)
}

/** Parses typed text; undefined: it is not a token yet. */
export function parseToken(text: string): FilterToken | undefined {
  const typed = text.trim()
  const payload = /^payload\.(\S+?[~=].+)$/i.exec(typed)?.[1]
  if (payload !== undefined) return { key: 'payload', value: payload }
  if (states.includes(typed.toUpperCase() as TaskState)) return { key: 'status', value: typed.toLowerCase() }
  const [, name = '', value = ''] = /^([\w-]+)\s*[:=\s]\s*(.+)$/.exec(typed) ?? []
  const key = name.toLowerCase()
  return isKey(key) && value !== '' ? { key, value: value.trim() } : undefined
}

export interface TokenProblem {
  readonly short: string
  readonly what: string
  readonly fix: string
}

/** For text that is not a token. */
export function notAFilter(text: string): TokenProblem {
  const names = Object.keys(filterKeys).join(', ')
  return {
    short: 'not a filter',
    what: `“${visibleText(text.trim())}” is not a filter.`,
    fix: `Write a name and a value, such as task:resize. The names are ${names}.`,
  }
}

/** Undefined: the token can be used. */
export function problemOfToken({ key, value }: FilterToken): TokenProblem | undefined {
  if (key === 'status' && statesOfName(value).length === 0)
    return {
      short: 'not a state',
      what: `“${visibleText(value)}” is not a state.`,
      fix: `The states are ${states.join(', ').toLowerCase()}.`,
    }
  if (!isTimeKey(key) || timeOf(value, Date.now()) !== undefined) return undefined
  return { short: 'not a time', what: `“${visibleText(value)}” is not a time.`, fix: waysToWriteTimes }
}

/** With one token more; all but states are there once. */
export function withToken(tokens: readonly FilterToken[], token: FilterToken): FilterToken[] {
  const others = tokens.filter(({ key, value }) =>
    token.key === 'status' ? key !== 'status' || value !== token.value : key !== token.key,
  )
  return [...others, token]
}

export function tokensIn(search: URLSearchParams): FilterToken[] {
  return [...search].flatMap(([key, value]) => (isKey(key) && value !== '' ? [{ key, value }] : []))
}

/** The query of the page with these tokens; everything else in it stays. */
export function searchWith(search: URLSearchParams, tokens: readonly FilterToken[]): URLSearchParams {
  const rest = [...search].filter(([key]) => !isKey(key))
  return new URLSearchParams([...rest, ...tokens.map(({ key, value }): [string, string] => [key, value])])
}

const namesInApi: Partial<Record<FilterKey, string>> = {
  key: 'uniqueKey',
  error: 'fingerprint',
  'ended-since': 'endedSince',
  'ended-before': 'endedBefore',
}

/**
 * As the API reads it: states together, times as ISO text. Undefined if a token has a problem: without that token the filter would
 * match more runs than a person asked for.
 */
export function apiFilter(tokens: readonly FilterToken[], now: number): ApiFilter | undefined {
  const filter: Record<string, string | string[]> = {}
  const status = tokens.filter(({ key }) => key === 'status').map(({ value }) => value)
  if (status.length > 0) filter['status'] = status
  for (const { key, value } of tokens) {
    if (key === 'status') continue
    const given = isTimeKey(key) ? timeOf(value, now)?.toISOString() : value
    if (given === undefined) return undefined
    filter[namesInApi[key] ?? key] = given
  }
  return filter
}

export function apiQuery(filter: ApiFilter): URLSearchParams {
  return new URLSearchParams(
    Object.entries(filter).map(([key, value]) => [key, typeof value === 'string' ? value : value.join(',')]),
  )
}

const namesOfOptions: Readonly<Record<string, string>> = {
  before: 'until',
  endedSince: 'ended-since',
  endedBefore: 'ended-until',
  uniqueKey: 'key',
  fingerprint: 'errors',
}

/** The options of the command line for the same runs. They name the times that the page has read, not the words for them. */
export function cliOptions(filter: ApiFilter): string {
  return [...apiQuery(filter)].map(([name, value]) => `--${namesOfOptions[name] ?? name} ${shellWord(value)}`).join(' ')
}

const timeKeys: ReadonlySet<FilterKey> = new Set(['since', 'before', 'ended-since', 'ended-before'])

function isTimeKey(key: FilterKey): boolean {
  return timeKeys.has(key)
}

function isKey(key: string): key is FilterKey {
  return Object.hasOwn(filterKeys, key)
}
