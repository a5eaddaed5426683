/**
 * Does a payload fit its task? Said before anything is written, with a JSON pointer for each place that does not.
 * The replica checks again before the code runs, by the task's own validator; that one has the last word.
 */
import { ExplainedError } from '@q/schema'
import type { Task } from '@q/task'

export interface Misfit {
  /** Where in the payload; empty: the payload itself. */
  readonly pointer: string
  readonly message: string
}

/** What does not fit; nothing: it does. */
export type PayloadCheck = (payload: unknown) => Promise<readonly Misfit[]>

/** More are not told. */
const misfitsMax = 10

/** By the validator of a definition. What it would make of the payload is left to the replica: the payload is stored as given. */
export function checkBy(input: Task['options']['input']): PayloadCheck | undefined {
  if (input === undefined) return undefined
  return async (payload) => {
    const { issues = [] } = await input['~standard'].validate(payload)
    return issues.map(({ path = [], message }) => ({
      pointer: pointerOf(path.map((part) => (typeof part === 'object' ? part.key : part))),
      message,
    }))
  }
}

export async function requireFit(task: string, payload: unknown, check: PayloadCheck | undefined): Promise<void> {
  const misfits = check === undefined ? [] : await check(payload)
  if (misfits.length === 0) return
  const told = misfits.slice(0, misfitsMax).map(({ pointer, message }) => `${pointer || 'the payload'}: ${message}`)
  const more = misfits.length > misfitsMax ? `; and ${misfits.length - misfitsMax} more` : ''
  throw new ExplainedError({
    code: 'INVALID_PAYLOAD',
    what: `The payload does not fit the task "${task}"; nothing was enqueued.`,
    why: `${told.join('; ')}${more}.`,
    fix: 'Correct the payload, or the input of the task.',
  })
}

/** RFC 6901. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
