/** Where the form shows what the server found wrong. Pure. */
import type { RequestProblem } from '../../api/problem.ts'
import type { Problems } from './payload-from.ts'
import { nameInApi, type OptionName } from './run-options.tsx'
import type { FormField } from './schema-form.ts'

export interface PlacedIssues {
  readonly payload: Problems
  readonly options: Partial<Record<OptionName, string>>
  /** Whether every issue has its place, so that nothing else has to be said. */
  readonly isComplete: boolean
}

/** `shown`: the pointers of the fields on screen. An issue inside a value is shown at the field that the value is typed into. */
export function placedIssues(problem: RequestProblem | undefined, shown: ReadonlySet<string>): PlacedIssues {
  const payload: Record<string, string> = {}
  const options: Partial<Record<OptionName, string>> = {}
  let isComplete = (problem?.issues.length ?? 0) > 0
  for (const { path, message } of problem?.issues ?? []) {
    const option = nameInApi[path]
    const field = fieldFor(path, shown)
    if (option !== undefined) options[option] = message
    else if (field !== undefined)
      payload[field] = field === '' ? `${path.slice('payload'.length)} ${message}`.trim() : message
    else isComplete = false
  }
  return { payload, options, isComplete }
}

function fieldFor(path: string, shown: ReadonlySet<string>): string | undefined {
  if (path === 'payloadText') return shown.has('') ? '' : undefined
  if (path !== 'payload' && !path.startsWith('payload/')) return undefined
  let pointer = path.slice('payload'.length)
  while (!shown.has(pointer)) {
    if (pointer === '') return undefined
    pointer = pointer.slice(0, pointer.lastIndexOf('/'))
  }
  return pointer
}

export function pointersOf(fields: readonly FormField[]): string[] {
  return fields.flatMap((field) => [field.pointer, ...(field.kind === 'group' ? pointersOf(field.fields) : [])])
}
