/** Validates the options of a task. All problems are reported together, each with the key of its option. */
import { TaskDefinitionError } from './definition-error.ts'
import { impossiblePlace } from './json-input.ts'
import { durationMs } from './duration.ts'
import type { TaskOptions } from './options.ts'
import { scheduleProblems } from './schedule-options.ts'
import { conflictingOptions } from './throttle-debounce.ts'

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

/** `timeProblems` checks these. */
const judgedTogether: Rule = { ok: () => true, rule: '' }

const debounceParts: Rule = objectOf({
  key: { ...wholeOrPointer, needed: true },
  for: { ...duration, needed: true },
  max: duration,
})

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
  database: { ok: (value) => typeof value === 'boolean', rule: 'must be true or false' },
  memoryLimitMb: { ok: isWhole(16, 1_048_576), rule: 'must be a whole number of MB from 16 to 1048576' },
  startAhead: within(1, 500),
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
  throttle: objectOf({ key: { ...wholeOrPointer, needed: true }, for: { ...duration, needed: true } }),
  debounce: {
    ok: (value) => debounceParts.ok(value) && isLongEnough(value),
    rule: `${debounceParts.rule}, not below for`,
  },
  expires: duration,
  keep: duration,
  cron: judgedTogether,
  every: judgedTogether,
  timezone: judgedTogether,
  missed: judgedTogether,
  payload: judgedTogether,
}

export function checkOptions<Run>(options: TaskOptions, run: Run | undefined): { options: TaskOptions; run: Run } {
  const problems = Object.entries(options).flatMap(([key, value]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key as keyof TaskOptions] : undefined
    if (rule === undefined) return [`${key}: no such option; the options are ${Object.keys(rules).join(', ')}`]
    return value === undefined || rule.ok(value) ? [] : [`${key}: ${rule.rule}`]
  })
  if (options.memoryLimitMb !== undefined && options.isolation !== 'process') {
    problems.push("memoryLimitMb: needs isolation: 'process'; threads share the memory of their process")
  }
  problems.push(...inputProblems(options), ...conflictingOptions(options), ...timeProblems(options))
  if (typeof run !== 'function') problems.push('the last argument must be the function to execute')
  if (problems.length > 0 || run === undefined) throw wrongOptions(problems)
  return { options: Object.freeze({ ...options }), run }
}

function inputProblems({ input }: TaskOptions): string[] {
  const place = impossiblePlace(input)
  if (place === undefined) return []
  const where = place === '' ? 'it' : `it at ${place}`
  return [
    `input: a payload arrives as JSON, and no JSON value satisfies ${where}; for a Date, use z.coerce.date() or its equivalent`,
  ]
}

/** The problems of the options that an enqueue shares with a task. */
export function runOptionProblems(options: Pick<TaskOptions, 'throttle' | 'debounce' | 'expires'>): string[] {
  const wrong = (['throttle', 'debounce', 'expires'] as const).filter(
    (key) => options[key] !== undefined && !rules[key].ok(options[key]),
  )
  return [...wrong.map((key) => `${key}: ${rules[key].rule}`), ...conflictingOptions(options)]
}

function timeProblems(options: TaskOptions): string[] {
  const problems = scheduleProblems(options)
  const hasTime = options.cron !== undefined || options.every !== undefined
  for (const key of ['timezone', 'missed', 'payload'] as const) {
    if (options[key] !== undefined && !hasTime) problems.push(`${key}: needs cron or every`)
  }
  const refusal = hasTime ? (isJson(options.payload) ? refusalOf(options) : 'must be JSON') : undefined
  return refusal === undefined ? problems : [...problems, `payload: ${refusal}`]
}

/** Replicas publish the value, so it must be JSON. */
function isJson(payload: unknown): boolean {
  try {
    return payload === undefined || JSON.stringify(payload) !== undefined
  } catch {
    return false
  }
}

/** The problems of the payload that the task's own schedule enqueues. An asynchronous schema is checked before each run instead. */
function refusalOf({ input, payload = {} }: TaskOptions): string | undefined {
  if (input === undefined || !isStandardSchema(input)) return undefined
  const answer = input['~standard'].validate(payload)
  if (answer instanceof Promise) {
    answer.catch(() => {})
    return undefined
  }
  return answer.issues?.map(({ message }) => message).join(', ')
}

export function isName(text: string): boolean {
  return /^[\p{L}\p{N}._\-:/$]{1,100}$/u.test(text)
}

interface Member extends Rule {
  readonly needed?: boolean
}

/** An object with these members and no others; the rule names all of them. */
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

function isLongEnough(value: unknown): boolean {
  const { for: window, max = window } = value as { readonly for: string; readonly max?: string }
  return durationMs(max) >= durationMs(window)
}

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
    what: `A task definition is invalid: ${problems.join('; ')}.`,
    why: 'task() does not accept these arguments.',
    fix: 'Write task(fn) or task({ queue, input, timeout, retry, … }, fn).',
  })
}
