/** Validates the options of a step at run time as well, for callers that do not compile with TypeScript. */
import { checkName } from '@q/schema/json'
import { durationMs } from '@q/task'
import type { MapStepOptions } from './step-options.ts'

interface Rule {
  readonly ok: (value: unknown) => boolean
  readonly rule: string
}

const duration: Rule = { ok: isDuration, rule: 'must be a duration, for instance 500ms, 30s, 5m, 1.5h, 2d' }

const graph: Record<'name' | 'after' | 'join' | 'allowFailed' | 'when', Rule> = {
  name: { ok: (value) => typeof value === 'string', rule: 'must be text' },
  after: { ok: Array.isArray, rule: 'must be a list of steps' },
  join: { ok: isJoin, rule: "must be 'all', 'any' or { quorum }" },
  allowFailed: { ok: (value) => typeof value === 'boolean', rule: 'must be true or false' },
  when: { ok: (value) => hasKey(value, 'condition'), rule: 'must be made by is, ended, all, any or not' },
}

const run: Record<keyof Omit<MapStepOptions, keyof typeof graph | 'parallel' | 'onItemError'>, Rule> = {
  priority: { ok: isWhole(-32_767, 32_767), rule: 'must be a whole number from -32767 to 32767' },
  group: { ok: isGroup, rule: 'must be short printable text' },
  delay: duration,
  expires: duration,
  timeout: duration,
  maxSilent: duration,
  attempts: { ok: isWhole(1, 32_767), rule: 'must be a whole number from 1 to 32767' },
  onCrash: { ok: (value) => value === 'fail' || value === 'retry', rule: "must be 'fail' or 'retry'" },
}

const list: Record<'parallel' | 'onItemError', Rule> = {
  parallel: { ok: isWhole(1, 100_000), rule: 'must be a whole number from 1 to 100000' },
  onItemError: { ok: (value) => value === 'fail' || value === 'collect', rule: "must be 'fail' or 'collect'" },
}

const rulesOf: Record<'task' | 'map' | 'workflow' | 'compensation', Readonly<Record<string, Rule>>> = {
  task: { ...graph, ...run },
  map: { ...graph, ...run, ...list },
  workflow: graph,
  compensation: run,
}

/** Returns every problem, each with the key of its option. */
export function optionProblems(kind: keyof typeof rulesOf, options: object): string[] {
  const rules = rulesOf[kind]
  return Object.entries(options).flatMap(([key, value]: [string, unknown]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined) return `there is no option ${key}`
    return value === undefined || rule.ok(value) ? [] : `${key} ${rule.rule}`
  })
}

function isDuration(value: unknown): boolean {
  try {
    return (typeof value === 'string' || typeof value === 'number') && durationMs(value) >= 0
  } catch {
    return false
  }
}

function isWhole(min: number, max: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

function isJoin(value: unknown): boolean {
  return value === 'all' || value === 'any' || hasKey(value, 'quorum')
}

function isGroup(value: unknown): boolean {
  return typeof value === 'string' && checkName('group', value) === undefined
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}
