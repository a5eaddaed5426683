/**
 * The outcome of a search. Only a search of all states proves something: one that ran out of depth, memory or time and found
 * nothing is `incomplete`, and so is one whose output is not understood.
 */
export type SearchOutcome =
  | { readonly kind: 'sound'; readonly states: number; readonly depth: number }
  | { readonly kind: 'broken'; readonly law: string; readonly states: number; readonly depth: number }
  | { readonly kind: 'incomplete'; readonly why: string }

const cutShort = /^.*(max search depth too small|Search not completed|error: |out of memory).*$/m

/** `output`: of the program that Spin made of a model. `goal`: what a search for progress is named after. */
export function outcomeOf(output: string, goal: string): SearchOutcome {
  const states = Number(/^\s*([\d.e+]+) states, stored/m.exec(output)?.[1])
  const depth = Number(/depth reached (\d+)/.exec(output)?.[1])
  const errors = /errors: (\d+)/.exec(output)?.[1]
  if (errors === undefined || Number.isNaN(states) || Number.isNaN(depth)) {
    return { kind: 'incomplete', why: output.trim().split('\n').at(-1) ?? '' }
  }
  const law = lawOf(output, goal)
  if (law !== undefined) return { kind: 'broken', law, states, depth }
  const cut = cutShort.exec(output)?.[0]
  if (cut !== undefined || errors !== '0') return { kind: 'incomplete', why: cut ?? `errors: ${errors}` }
  return { kind: 'sound', states, depth }
}

/** The assertions end with the name of their law. */
function lawOf(output: string, goal: string): string | undefined {
  const first = /^pan:1: (.*)$/m.exec(output)?.[1]
  if (first === undefined) return undefined
  if (first.startsWith('acceptance cycle')) return goal
  if (first.startsWith('invalid end state')) return 'no process waits forever'
  return /\|\|(\w+)\) \(at depth/.exec(first)?.[1]?.replaceAll('_', ' ') ?? first
}
