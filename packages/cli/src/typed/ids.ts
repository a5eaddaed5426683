/** Parses ids: `123`, `#123`, or the address of the page. */
import { ExplainedError } from '@q/schema'
import { asRunId, asWorkflowId, type RunId, type WorkflowId } from '@q/store'

export function parseRunId(text: string): RunId {
  const id = asRunId(digitsOf(text, 'runs'))
  if (id !== undefined) return id
  throw notAnId(text, { code: 'RUN_ID_INVALID', what: 'run' })
}

/** Each id once: a run that is named twice is changed once. */
export function runIds(texts: readonly string[]): RunId[] {
  return [...new Set(texts.map(parseRunId))]
}

export function workflowId(text: string): WorkflowId {
  const id = asWorkflowId(digitsOf(text, 'workflows'))
  if (id !== undefined) return id
  throw notAnId(text, { code: 'WORKFLOW_ID_INVALID', what: 'workflow' })
}

const commandsOfRuns: ReadonlySet<unknown> = new Set([
  'show',
  'why',
  'logs',
  'cancel',
  'retry',
  'again',
  'open',
  'review',
])

/**
 * Joins `run 123` on a command line whose command takes ids of runs. The value of an option stays as it is: `takesValue` says
 * which options of the command have one.
 */
export function withSpokenIds(args: readonly string[], takesValue: (option: string) => boolean): string[] {
  if (!commandsOfRuns.has(args[0])) return [...args]
  /** Whether the argument is the word before an id. */
  const isSpoken = (place: number) =>
    args[place] === 'run' && /^#?\d+$/.test(args[place + 1] ?? '') && !takesValue(args[place - 1] ?? '')
  return args.flatMap((arg, place) => {
    if (isSpoken(place)) return []
    return isSpoken(place - 1) ? [`run ${arg}`] : [arg]
  })
}

/** Operations, recoveries and deliveries. */
export function plainId(text: string, what: string): string {
  const id = digitsOf(text, `${what}s`)
  if (/^\d{1,19}$/.test(id)) return id
  throw notAnId(text, { code: 'ID_INVALID', what })
}

function digitsOf(text: string, path: string): string {
  const inAddress = new RegExp(`/${path}/(\\d+)(?:[/?#]|$)`).exec(text)
  return inAddress?.[1] ?? text.trim().replace(/^(run|workflow)?\s*#?/i, '')
}

function notAnId(text: string, { code, what }: { code: string; what: string }): ExplainedError {
  return new ExplainedError({
    code,
    what: `"${text}" is not the id of a ${what}.`,
    why: `The id of a ${what} is a whole number.`,
    fix: `Write 123, #123, or the address of the ${what} on the page.`,
  })
}
