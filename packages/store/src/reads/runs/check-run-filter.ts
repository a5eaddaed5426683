/**
 * Checks a filter and a page before anything is read. An unknown member is refused: a misspelt filter that is ignored
 * would return every run. Pure.
 */
import { ExplainedError } from '@q/schema'
import { asRunId } from '../../lease.ts'
import { readPayloadCondition } from './payload-condition.ts'
import { runViews, type PageRequest, type RunFilter } from './run-filter.ts'

interface Rule {
  readonly ok: (value: unknown) => boolean
  readonly rule: string
}

const text: Rule = { ok: (value) => typeof value === 'string', rule: 'must be text' }
const time: Rule = {
  ok: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  rule: 'must be a valid Date',
}

const filterRules: Record<keyof RunFilter, Rule> = {
  status: {
    ok: (value) => Array.isArray(value) && value.every(text.ok),
    rule: "must be a list of states, for instance ['FAILED']",
  },
  task: text,
  queue: text,
  group: text,
  replica: text,
  workflow: {
    ok: (value) => typeof value === 'string' && asRunId(value) !== undefined,
    rule: 'must be the id of a workflow',
  },
  uniqueKey: text,
  code: text,
  payload: {
    ok: (value) => typeof value === 'string' && readPayloadCondition(value) !== undefined,
    rule: "must be a member, = or ~, and a value, for instance 'url~cdn'",
  },
  hiddenMembers: {
    ok: (value) => Array.isArray(value) && value.every((part) => typeof part === 'string' && /^[a-z0-9]+$/.test(part)),
    rule: "must be a list of parts of names, for instance ['password', 'apikey']",
  },
  fingerprint: text,
  schedule: text,
  createdAfter: time,
  createdBefore: time,
  endedAfter: time,
  endedBefore: time,
}

const number: Rule = { ok: (value) => typeof value === 'number' && !Number.isNaN(value), rule: 'must be a number' }

const pageRules: Record<keyof PageRequest, Rule> = {
  cursor: text,
  limit: number,
  view: { ok: (value) => runViews.some((view) => view === value), rule: `must be one of ${runViews.join(', ')}` },
  look: number,
}

/** Throws `FILTER_INVALID` with every member that is unknown or has the wrong type. */
export function requireValidFilter(filter: RunFilter, page: PageRequest): void {
  const problems = [...problemsOf('filter', filter, filterRules), ...problemsOf('page', page, pageRules)]
  if (problems.length === 0) return
  throw new ExplainedError({
    code: 'FILTER_INVALID',
    what: 'Runs cannot be listed by this filter; nothing was read.',
    why: `${problems.join('; ')}.`,
    fix: 'Correct the members named above, or leave them out.',
  })
}

function problemsOf(what: string, given: object, rules: Record<string, Rule>): string[] {
  return Object.entries(given).flatMap(([key, value]: [string, unknown]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined) return [`${key}: the ${what} has no such member; it has ${Object.keys(rules).join(', ')}`]
    return value === undefined || rule.ok(value) ? [] : [`${key}: ${rule.rule}`]
  })
}
