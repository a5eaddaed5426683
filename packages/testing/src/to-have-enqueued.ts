/**
 * The matcher `toHaveEnqueued`, for Vitest (`import '@q/testing/vitest'`) and for every library with Jest's
 * `expect.extend({ toHaveEnqueued })`.
 */
import { ExplainedError } from '@q/schema'
import { durationMs, type Duration } from '@q/task'
import type { StoredRun } from './enqueued.ts'

export interface EnqueuedOptions {
  /** The exact number of runs; default: at least one. */
  readonly times?: number
  readonly queue?: string
  readonly group?: string
  readonly priority?: number
  /** Compared to the second. */
  readonly delay?: Duration
}

/** The part of the matcher context of Vitest and Jest that is used here. */
export interface MatcherContext {
  readonly isNot?: boolean
  equals(a: unknown, b: unknown, testers?: never[]): boolean
  readonly utils: {
    stringify(value: unknown): string
    readonly iterableEquality: unknown
    readonly subsetEquality: unknown
  }
}

export interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
}

export type EnqueuedMatcher = (
  this: MatcherContext,
  received: unknown,
  task: string,
  payload?: unknown,
  options?: EnqueuedOptions,
) => Promise<MatcherResult>

/** Vitest and Jest pass the matcher context as `this`. */
export const toHaveEnqueued: EnqueuedMatcher = function (received, task, payload, options = {}) {
  return judge(this, { task, payload, options }, received)
}

interface ExpectedRun {
  readonly task: string
  readonly payload: unknown
  readonly options: EnqueuedOptions
}

async function judge(context: MatcherContext, wanted: ExpectedRun, received: unknown): Promise<MatcherResult> {
  const all = await runsBehind(received)
  const { task, payload, options } = wanted
  const { iterableEquality, subsetEquality } = context.utils
  const testers = [iterableEquality, subsetEquality] as never[]
  const found = all.filter(
    (run) =>
      run.task === task &&
      (payload === undefined || context.equals(run.payload, payload, testers)) &&
      hasOptions(run, options),
  )
  const { times } = options
  return {
    pass: times === undefined ? found.length > 0 : found.length === times,
    message: () =>
      `expected ${context.isNot === true ? 'no run' : 'a run'} to have been enqueued: ${inWords(context, wanted)}\n` +
      `enqueued so, ${found.length}; in all, ${all.length}:\n${listOf(all, found)}`,
  }
}

function inWords({ utils }: MatcherContext, { task, payload, options: { times, ...rest } }: ExpectedRun): string {
  const print = (value: unknown) => inOneLine(utils.stringify(value))
  return [
    task,
    ...(payload === undefined ? [] : [`with ${print(payload)}`]),
    ...(Object.keys(rest).length === 0 ? [] : [`and ${print(rest)}`]),
    ...(times === undefined ? [] : [`${times} ${times === 1 ? 'time' : 'times'}`]),
  ].join(' ')
}

/** Tolerance: the clock advances between the two times that a delay is computed from. */
const delayMsTolerance = 1_000

function hasOptions(run: StoredRun, { queue, group, priority, delay }: EnqueuedOptions): boolean {
  return (
    (queue === undefined || run.queue === queue) &&
    (group === undefined || run.group === group) &&
    (priority === undefined || run.priority === priority) &&
    (delay === undefined || Math.abs(run.delayMs - durationMs(delay)) < delayMsTolerance)
  )
}

/** Prints on one line, as Jest does; Vitest prints one line per member and the class of plain objects. */
function inOneLine(printed: string): string {
  return printed
    .replaceAll(/,?\s*\n\s*([}\]])/g, '$1')
    .replaceAll(/(Object )?([{[])\s*\n\s*/g, '$2')
    .replaceAll(/\s*\n\s*/g, ' ')
}

const listedMax = 20
const payloadCharsMax = 200

/** Lists the runs and marks those that matched. */
function listOf(all: readonly StoredRun[], found: readonly StoredRun[]): string {
  if (all.length === 0) return '  nothing'
  const lines = all.slice(-listedMax).map((run) => `${found.includes(run) ? '›' : ' '} ${lineOf(run)}`)
  return [...lines, ...(all.length > listedMax ? [`  … and ${all.length - listedMax} before`] : [])].join('\n')
}

function lineOf(run: StoredRun): string {
  const text = JSON.stringify(run.payload)
  const delayS = Math.round(run.delayMs / 1_000)
  return [
    `${run.id} ${run.task} ${text.length > payloadCharsMax ? `${text.slice(0, payloadCharsMax)}…` : text}`,
    ...(run.queue === 'default' ? [] : [`queue ${run.queue}`]),
    ...(run.group === '' ? [] : [`group ${run.group}`]),
    ...(run.priority === 0 ? [] : [`priority ${run.priority}`]),
    ...(delayS === 0 ? [] : [`delay ${delayS}s`]),
    run.status,
  ].join(', ')
}

async function runsBehind(received: unknown): Promise<readonly StoredRun[]> {
  const enqueued: unknown = Reflect.get(Object(received), 'enqueued')
  if (typeof enqueued === 'function') return (await Reflect.apply(enqueued, received, [])) as StoredRun[]
  throw new ExplainedError({
    code: 'NOT_A_TEST_QUEUE',
    what: 'toHaveEnqueued() needs a test queue.',
    why: 'Only the return value of testQueue() has the database of the test.',
    fix: 'Write: await expect(q).toHaveEnqueued(…), with q from: await using q = await testQueue({ tasks })',
  })
}
