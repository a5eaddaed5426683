/**
 * Checks a payload before anything is written, and reports each problem with a JSON pointer. The replica checks again with
 * the task's own validator before the code runs; that check decides.
 */
import { ExplainedError } from '@q/schema'
import type { Task } from '@q/task'

export interface PayloadIssue {
  /** JSON pointer into the payload; empty for the payload itself. */
  readonly pointer: string
  readonly message: string
}

/** Returns the problems of a payload; an empty list if it is valid. */
export type PayloadCheck = (payload: unknown) => Promise<readonly PayloadIssue[]>

/** Has the problems as data too, so that a form can show each at its field. */
class InvalidPayload extends ExplainedError {
  readonly issues: readonly PayloadIssue[]

  constructor(explained: ConstructorParameters<typeof ExplainedError>[0], issues: readonly PayloadIssue[]) {
    super(explained)
    this.issues = issues
  }
}

/** The error lists at most this many problems. */
const issuesMax = 10

/** Checks with the validator of a task definition. The payload is stored as passed: only the replica uses the validator's output. */
export function checkBy(input: Task['options']['input']): PayloadCheck | undefined {
  if (input === undefined) return undefined
  return async (payload) => {
    const { issues = [] } = await input['~standard'].validate(payload)
    return issues.map(({ path = [], message }) => ({
      pointer: issuePointer(path.map((part) => (typeof part === 'object' ? part.key : part))),
      message,
    }))
  }
}

export async function assertPayload(task: string, payload: unknown, check: PayloadCheck | undefined): Promise<void> {
  const issues = check === undefined ? [] : await check(payload)
  if (issues.length === 0) return
  const shown = issues.slice(0, issuesMax).map(({ pointer, message }) => `${pointer || 'the payload'}: ${message}`)
  const more = issues.length > issuesMax ? `; and ${issues.length - issuesMax} more` : ''
  throw new InvalidPayload(
    {
      code: 'INVALID_PAYLOAD',
      what: `The payload does not fit the task "${task}"; nothing was enqueued.`,
      why: `${shown.join('; ')}${more}.`,
      fix: 'Correct the payload, or the input of the task.',
    },
    issues,
  )
}

/** RFC 6901. */
export function issuePointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
