/**
 * Checks new runs before anything is sent: payloads, names, keys, numbers.
 * One bad run in a batch rejects the whole batch, and the error names each bad run by its position.
 */
import { ExplainedError } from '@q/schema'
import { checkJson, checkName, jsonReasons, problemsText, storableText, type NameKind } from '@q/schema/json'
import type { RunId } from '../lease.ts'
import { areAlike } from './alike.ts'
import type { NewRun } from './new-run.ts'
import { sqlState } from '../connection/sql-state.ts'

export interface CheckedRun {
  readonly run: NewRun
  /** The same object for consecutive runs that differ only in the payload. Undefined: not compared. */
  readonly kind?: NewRun
  /** JSON text that jsonb can hold. */
  readonly payload: string
  /** Set if the id was taken before. */
  readonly id?: RunId
  /** When the run may start, if the time was read from the database before. */
  readonly runAt?: Date
}

/** The error names no more problems than this. */
const problemsMax = 10

export function checkNewRuns(runs: readonly NewRun[]): CheckedRun[] {
  const checked: CheckedRun[] = []
  const bad: { kind: ProblemKind; why: string }[] = []
  let kind: NewRun | undefined
  for (const [index, run] of runs.entries()) {
    const which = runs.length === 1 ? '' : `run ${index + 1} of ${runs.length}: `
    const isKnown = kind !== undefined && areAlike(kind, run)
    const names = isKnown ? [] : nameProblems(run)
    const options = isKnown ? [] : [...optionProblems(run), ...withoutLaneProblems(run)]
    if (kind === undefined || !isKnown) kind = run
    const payload = checkJson(run.payload)
    if (names.length > 0) bad.push({ kind: 'name', why: `${which}${names.join('; ')}` })
    if (options.length > 0) bad.push({ kind: 'option', why: `${which}${options.join('; ')}` })
    if (payload.ok) checked.push({ run, kind, payload: payload.text })
    else bad.push({ kind: jsonReasons[payload.problems[0].reason], why: `${which}${problemsText(payload.problems)}` })
    if (bad.length >= problemsMax) break
  }
  const [first] = bad
  if (first === undefined) return checked
  throw new ExplainedError({ ...refusals[first.kind], why: `${bad.map(({ why }) => why).join('. ')}.` })
}

/** Returns the problems with names, keys and numbers of a run, without its payload. */
export function runProblems(run: NewRun): string[] {
  return [...nameProblems(run), ...optionProblems(run)]
}

/** Explains 22P05 and 22P02, text that jsonb cannot hold. A last resort: the check above rejects such text. */
export function unstorable(error: unknown): unknown {
  const code = sqlState(error)
  if (code !== '22P05' && code !== '22P02') return error
  return new ExplainedError({
    ...refusals.unstorable,
    why: 'The database says that jsonb cannot hold it.',
    cause: error,
  })
}

type ProblemKind = keyof typeof refusals

const refusals = {
  name: {
    code: 'NAME_INVALID',
    what: 'A name or key cannot be used; nothing was enqueued.',
    fix: 'Use short printable text.',
  },
  option: {
    code: 'RUN_OPTION_INVALID',
    what: 'An option of a run cannot be used; nothing was enqueued.',
    fix: 'Correct it, or leave it out.',
  },
  'not-json': {
    code: 'PAYLOAD_NOT_JSON',
    what: 'A payload holds something that JSON cannot show; nothing was enqueued.',
    fix: 'Pass plain objects, arrays, strings, numbers, booleans and null; turn anything else into one of them first.',
  },
  unstorable: {
    code: 'PAYLOAD_UNSTORABLE',
    what: 'A payload cannot be stored; nothing was enqueued.',
    fix: 'Remove such characters and numbers, or encode them (text as base64, for instance); nest less deeply.',
  },
  'too-large': {
    code: 'PAYLOAD_TOO_LARGE',
    what: 'A payload is too large; nothing was enqueued.',
    fix: 'Store it elsewhere and pass where it is.',
  },
} as const

function nameProblems({ task, group, uniqueKey, concurrency, throttle, debounce }: NewRun): string[] {
  const names: [NameKind, unknown][] = [['task', task]]
  if (group !== undefined) names.push(['group', group])
  if (uniqueKey !== undefined) names.push(['unique key', uniqueKey])
  if (throttle !== undefined) names.push(['throttle key', throttle.key])
  if (debounce !== undefined) names.push(['debounce key', debounce.key])
  if (concurrency !== undefined) {
    names.push(['concurrency scope', concurrency.scope], ['concurrency key', concurrency.key])
  }
  return names.flatMap(([kind, name]) => {
    const problem = checkName(kind, name)
    return problem === undefined ? [] : `the ${kind} ${problem}`
  })
}

interface Range {
  readonly least: number
  readonly most: number
  readonly whole: boolean
}

const integer = { most: 2_147_483_647, whole: true }
/** A hundred years, in ms. */
const longest = 3_155_760_000_000

const ranges = {
  lane: { least: 1, ...integer },
  priority: { least: -32_768, most: 32_767, whole: true },
  maxAttempts: { least: 1, most: 32_767, whole: true },
  timeoutMs: { least: 1, ...integer },
  maxSilentMs: { least: 1, ...integer },
  delayMs: { least: 0, most: longest, whole: false },
  expiresInMs: { least: 0, most: longest, whole: false },
  uniqueForMs: { least: 1, most: longest, whole: false },
} as const satisfies Partial<Record<keyof NewRun, Range>>

const numbers = Object.entries(ranges) as [keyof typeof ranges, Range][]
const traceCharsMax = 1_000

function optionProblems(run: NewRun): string[] {
  const problems: string[] = []
  for (const [name, range] of numbers) {
    const value: unknown = run[name]
    if (value !== undefined) problems.push(...rangeProblem(name, value, range))
  }
  const { onCrash, trace } = run
  if (onCrash !== undefined && onCrash !== 'fail' && onCrash !== 'retry') {
    problems.push('onCrash is neither "fail" nor "retry"')
  }
  if (trace !== undefined && !isTrace(trace))
    problems.push(`trace is not a text of at most ${traceCharsMax} characters`)
  if (run.runAt !== undefined && !isWithinReach(run.runAt)) problems.push('runAt is not a date before the year 10000')
  if (run.runAt !== undefined && run.delayMs !== undefined) problems.push('delayMs and runAt: a run has one of them')
  if (run.uniqueForMs !== undefined && run.uniqueKey === undefined) problems.push('uniqueForMs has no uniqueKey')
  return [...problems, ...throttleDebounceProblems(run)]
}

/** Returns the options of a run without a lane for which `q.enqueue()` has no parameter. */
function withoutLaneProblems(run: NewRun): string[] {
  if (run.lane !== undefined) return []
  const taskOnly = ['onCrash', 'timeoutMs', 'maxSilentMs', 'concurrency'] as const
  return taskOnly.filter((name) => run[name] !== undefined).map((name) => `${name} has no lane`)
}

function isWithinReach(runAt: Date): boolean {
  return Math.abs(runAt.getTime()) < Date.UTC(10_000, 0)
}

function throttleDebounceProblems({ uniqueKey, throttle, debounce, delayMs, runAt }: NewRun): string[] {
  const problems: string[] = []
  if (throttle !== undefined) problems.push(...rangeProblem('throttle.forMs', throttle.forMs, ranges.uniqueForMs))
  if (debounce !== undefined) {
    const { forMs, maxMs } = debounce
    problems.push(...rangeProblem('debounce.forMs', forMs, ranges.uniqueForMs))
    problems.push(...rangeProblem('debounce.maxMs', maxMs, { ...ranges.uniqueForMs, least: forMs }))
    if (delayMs !== undefined || runAt !== undefined) problems.push('delayMs and debounce: the window is the delay')
  }
  const laws = [uniqueKey, throttle, debounce].filter((law) => law !== undefined)
  if (laws.length > 1) problems.push('uniqueKey, throttle and debounce: a run has one of them')
  return problems
}

function rangeProblem(name: string, value: unknown, { least, most, whole }: Range): string[] {
  if (typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value))) return []
  return [`${name} is not a ${whole ? 'whole ' : ''}number from ${least} to ${most}`]
}

function isTrace(trace: unknown): boolean {
  return typeof trace === 'string' && trace.length <= traceCharsMax && storableText(trace) === trace
}
