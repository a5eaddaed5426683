/** What a task may say about itself, and the check that it says it right. All problems are reported together. */
import type { StandardSchemaV1 } from '@standard-schema/spec'

export interface TaskOptions {
  /** Checks and types the payload, before the code is started. Any Standard Schema: zod, valibot, arktype. */
  readonly input?: StandardSchemaV1
  /** The line its runs wait in. Default: `default`. */
  readonly queue?: string
  /** What happens to a run whose replica dies while it runs. Default: what the replica's preset says, normally `fail`. */
  readonly onCrash?: 'fail' | 'retry'
}

export const defaultQueue = 'default'

/** A mistake in a task's definition or in a module of tasks. */
export class TaskDefinitionError extends Error {
  override readonly name = 'TaskDefinitionError'
  readonly code: string
  readonly why: string
  readonly fix: string

  constructor(explained: { code: string; what: string; why: string; fix: string; cause?: unknown }) {
    super(explained.what, explained.cause === undefined ? {} : { cause: explained.cause })
    this.code = explained.code
    this.why = explained.why
    this.fix = explained.fix
  }
}

const rules: Record<keyof TaskOptions, { ok: (value: unknown) => boolean; rule: string }> = {
  input: { ok: isStandardSchema, rule: 'must be a Standard Schema (zod, valibot, arktype, …)' },
  queue: {
    ok: (value) => typeof value === 'string' && isName(value),
    rule: 'must be 1 to 100 letters, digits, or . _ - : /',
  },
  onCrash: { ok: (value) => value === 'fail' || value === 'retry', rule: "must be 'fail' or 'retry'" },
}

export function checkOptions<Run>(options: TaskOptions, run: Run | undefined): { options: TaskOptions; run: Run } {
  const problems = Object.entries(options).flatMap(([key, value]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key as keyof TaskOptions] : undefined
    if (rule === undefined) return [`${key}: no such option; there are ${Object.keys(rules).join(', ')}`]
    return value === undefined || rule.ok(value) ? [] : [`${key}: ${rule.rule}`]
  })
  if (typeof run !== 'function') problems.push('the last argument must be the function to run')
  if (problems.length > 0 || run === undefined) throw wrongOptions(problems)
  return { options: Object.freeze({ ...options }), run }
}

/** Names of tasks and queues. */
export function isName(name: string): boolean {
  return /^[\p{L}\p{N}._\-:/$]{1,100}$/u.test(name)
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
    fix: 'Write task(fn) or task({ queue, input, onCrash }, fn).',
  })
}
