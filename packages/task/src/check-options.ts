/** Does a task say right what it says about itself? All problems are reported together, each with its key. */
import { TaskDefinitionError } from './definition-error.ts'
import { durationMs } from './duration.ts'
import type { TaskOptions } from './options.ts'

interface Rule {
  readonly ok: (value: unknown) => boolean
  readonly rule: string
}

const name: Rule = { ok: isText(isName), rule: 'must be 1 to 100 letters, digits, or . _ - : /' }
const ownName: Rule = { ok: isText((text) => isName(text) && text !== 'default'), rule: `${name.rule}, not default` }
const pointer: Rule = {
  ok: isText((text) => /^(\/([^~]|~[01])*)+$/u.test(text)),
  rule: 'must be a JSON pointer into the payload, for instance /user/id',
}
const wholeOrPointer: Rule = {
  ok: (value) => value === 'payload' || pointer.ok(value),
  rule: "must be 'payload' or a JSON pointer into it",
}
const duration: Rule = { ok: isDuration, rule: 'must be a duration above 0, for instance 500ms, 30s, 5m, 1.5h, 2d' }

const rules: Record<keyof TaskOptions, Rule> = {
  name: ownName,
  input: { ok: isStandardSchema, rule: 'must be a Standard Schema (zod, valibot, arktype, …)' },
  queue: name,
  priority: { ok: isWhole(-32_767, 32_767), rule: 'must be a whole number from -32767 to 32767' },
  requires: {
    ok: (value) => Array.isArray(value) && value.every(name.ok),
    rule: 'must be a list of names of capabilities',
  },
  onCrash: { ok: (value) => value === 'fail' || value === 'retry', rule: "must be 'fail' or 'retry'" },
  isolation: { ok: (value) => value === 'thread' || value === 'process', rule: "must be 'thread' or 'process'" },
  memoryLimitMb: { ok: isWhole(16, 1_048_576), rule: 'must be a whole number of MB from 16 to 1048576' },
  timeout: duration,
  maxSilent: duration,
  retry: objectOf({
    attempts: { ...within(1, 10_000), needed: true },
    backoff: { ok: (value) => value === 'exponential' || value === 'fixed', rule: "must be 'exponential' or 'fixed'" },
    delay: { ok: isDelay, rule: 'must be a duration' },
    maxDelay: duration,
  }),
  concurrency: objectOf({ key: { ...pointer, needed: true }, limit: within(1, 10_000), shared: name }),
  unique: {
    ok: (value) => wholeOrPointer.ok(value) || uniqueFor.ok(value),
    rule: `${wholeOrPointer.rule}, or { key, for }`,
  },
  keep: duration,
}

export function checkOptions<Run>(options: TaskOptions, run: Run | undefined): { options: TaskOptions; run: Run } {
  const problems = Object.entries(options).flatMap(([key, value]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key as keyof TaskOptions] : undefined
    if (rule === undefined) return [`${key}: no such option; there are ${Object.keys(rules).join(', ')}`]
    return value === undefined || rule.ok(value) ? [] : [`${key}: ${rule.rule}`]
  })
  if (options.memoryLimitMb !== undefined && options.isolation !== 'process') {
    problems.push("memoryLimitMb: needs isolation: 'process'; threads share the memory of their process")
  }
  if (typeof run !== 'function') problems.push('the last argument must be the function to run')
  if (problems.length > 0 || run === undefined) throw wrongOptions(problems)
  return { options: Object.freeze({ ...options }), run }
}

/** Names of tasks and queues. */
export function isName(text: string): boolean {
  return /^[\p{L}\p{N}._\-:/$]{1,100}$/u.test(text)
}

interface Member extends Rule {
  readonly needed?: boolean
}

/** An object with these members and no others; the rule tells all of them. */
function objectOf(members: Record<string, Member>): Rule {
  const parts = Object.entries(members).map(
    ([key, member]) => `${key}${member.needed === true ? '' : ' (if set)'} ${member.rule}`,
  )
  return {
    rule: `must be an object: ${parts.join(', ')}`,
    ok: (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.keys(value).every((key) => Object.hasOwn(members, key)) &&
      Object.entries(members).every(([key, { ok, needed = false }]) => {
        const member: unknown = Reflect.get(value, key)
        return member === undefined ? !needed : ok(member)
      }),
  }
}

const uniqueFor: Rule = objectOf({ key: { ...wholeOrPointer, needed: true }, for: { ...duration, needed: true } })

function within(min: number, max: number): Rule {
  return { ok: isWhole(min, max), rule: `must be a whole number from ${min} to ${max}` }
}

function isWhole(min: number, max: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

function isText(ok: (text: string) => boolean): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && ok(value)
}

function isDelay(value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  try {
    return durationMs(value) >= 0
  } catch {
    return false
  }
}

function isDuration(value: unknown): boolean {
  return isDelay(value) && durationMs(value as string) > 0
}

function isStandardSchema(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = Reflect.get(value, '~standard')
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function'
}

function wrongOptions(problems: string[]): TaskDefinitionError {
  return new TaskDefinitionError({
    code: 'TASK_OPTIONS_INVALID',
    what: `A task's definition is wrong: ${problems.join('; ')}.`,
    why: 'task() was called with options it cannot keep.',
    fix: 'Write task(fn) or task({ queue, input, timeout, retry, … }, fn).',
  })
}
