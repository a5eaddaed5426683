/**
 * The matcher `toHaveEnqueued`, for Vitest (`import '@q/testing/vitest'`) and for everything else that extends `expect` in
 * Jest's way: `expect.extend({ toHaveEnqueued })`.
 */
import { ExplainedError } from '@q/schema'
import { durationMs, type Duration } from '@q/task'
import type { EnqueuedRun } from './enqueued.ts'

export interface EnqueuedOptions {
  /** Exactly so many; else at least one. */
  readonly times?: number
  readonly queue?: string
  readonly group?: string
  readonly priority?: number
  /** To the second. */
  readonly delay?: Duration
}

/** What Vitest and Jest give their matchers, as far as it is used here. */
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

/** `this` is how matchers are given what they compare with. */
export const toHaveEnqueued: EnqueuedMatcher = function (received, task, payload, options = {}) {
  return judge(this, { task, payload, options }, received)
}

interface Wanted {
  readonly task: string
  readonly payload: unknown
  readonly options: EnqueuedOptions
}

async function judge(context: MatcherContext, wanted: Wanted, received: unknown): Promise<MatcherResult> {
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

function inWords({ utils }: MatcherContext, { task, payload, options: { times, ...rest } }: Wanted): string {
  const print = (value: unknown) => inOneLine(utils.stringify(value))
  return [
    task,
    ...(payload === undefined ? [] : [`with ${print(payload)}`]),
    ...(Object.keys(rest).length === 0 ? [] : [`and ${print(rest)}`]),
    ...(times === undefined ? [] : [`${times} ${times === 1 ? 'time' : 'times'}`]),
  ].join(' ')
}

/** The clock moves on between the two moments a delay is judged by. */
const delayMsTolerance = 1_000

function hasOptions(run: EnqueuedRun, { queue, group, priority, delay }: EnqueuedOptions): boolean {
  return (
    (queue === undefined || run.queue === queue) &&
    (group === undefined || run.group === group) &&
    (priority === undefined || run.priority === priority) &&
    (delay === undefined || Math.abs(run.delayMs - durationMs(delay)) < delayMsTolerance)
  )
}

/** As Jest prints it; Vitest has a line for each member, and names the class of plain objects. */
function inOneLine(printed: string): string {
  return printed
    .replaceAll(/,?\s*\n\s*([}\]])/g, '$1')
    .replaceAll(/(Object )?([{[])\s*\n\s*/g, '$2')
    .replaceAll(/\s*\n\s*/g, ' ')
}

const listedMax = 20
const payloadCharsMax = 200

/** Those that were found are marked. */
function listOf(all: readonly EnqueuedRun[], found: readonly EnqueuedRun[]): string {
  if (all.length === 0) return '  nothing'
  const lines = all.slice(-listedMax).map((run) => `${found.includes(run) ? '›' : ' '} ${lineOf(run)}`)
  return [...lines, ...(all.length > listedMax ? [`  … and ${all.length - listedMax} before`] : [])].join('\n')
}

function lineOf(run: EnqueuedRun): string {
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

async function runsBehind(received: unknown): Promise<readonly EnqueuedRun[]> {
  const enqueued: unknown = Reflect.get(Object(received), 'enqueued')
  if (typeof enqueued === 'function') return (await Reflect.apply(enqueued, received, [])) as EnqueuedRun[]
  throw new ExplainedError({
    code: 'NOT_A_TEST_QUEUE',
    what: 'toHaveEnqueued() was not given a test queue.',
    why: 'Only what testQueue() returned knows the database that belongs to the test.',
    fix: 'Write: await expect(q).toHaveEnqueued(…), with q from: await using q = await testQueue({ tasks })',
  })
}
