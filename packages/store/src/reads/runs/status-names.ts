/** Resolves the names that people and other systems use for states of runs, in upper or lower case. Pure. */
import { ExplainedError, taskStates, type TaskState } from '@q/schema'

const otherNames: Readonly<Record<string, readonly TaskState[]>> = {
  QUEUED: ['AVAILABLE'],
  PENDING: ['PENDING', 'AVAILABLE'],
  GATED: ['PENDING'],
  'IN-PROGRESS': ['CLAIMED', 'RUNNING'],
  BUILDING: ['RUNNING'],
  UPLOADING: ['RUNNING'],
  DONE: ['SUCCEEDED'],
  COMPLETED: ['SUCCEEDED'],
  CANCELED: ['CANCELLED'],
  'DEP-FAILED': ['SKIPPED'],
}

const statesByName = new Map<string, readonly TaskState[]>([
  ...taskStates.map((state) => [state, [state]] as const),
  // Added after the states: for people, "pending" includes runs that can be claimed now.
  ...Object.entries(otherNames),
])

/** All names, in lower case. */
export const stateNames: readonly string[] = [...statesByName.keys()].map((name) => name.toLowerCase())

/** Returns the states for these names, each once, in the order of the table. Throws STATUS_UNKNOWN. */
export function statesNamed(names: readonly string[]): TaskState[] {
  const meant = new Set(names.flatMap((name) => statesByName.get(asKnown(name)) ?? unknown(name)))
  return taskStates.filter((state) => meant.has(state))
}

function asKnown(name: string): string {
  return name.trim().toUpperCase().replaceAll('_', '-')
}

function unknown(name: string): never {
  throw new ExplainedError({
    code: 'STATUS_UNKNOWN',
    what: `"${name}" is not a status.`,
    why: 'No state of a run has that name.',
    fix: `Use one of ${stateNames.join(', ')}.`,
  })
}
