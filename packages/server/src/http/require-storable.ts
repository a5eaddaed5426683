/** Refuses texts in a body that PostgreSQL cannot store. */
import { wrongParameters } from './refusal.ts'

/** Members with the JSON of a user: the client and the database check it, with a code of its own. */
const ofUsers: ReadonlySet<string> = new Set(['payload'])

export function requireStorable(body: unknown): void {
  const problems = [...unstorable(body, [])].slice(0, 20)
  if (problems.length === 0) return
  throw wrongParameters(
    problems.map((at) => ({ at, problem: 'has the character \\u0000, or half of a surrogate pair' })),
  )
}

/** The places of such texts. The body is nested at most 65 levels deep (read-body.ts). */
function* unstorable(value: unknown, path: readonly string[]): Generator<string> {
  if (typeof value === 'string') {
    if (!isStorable(value)) yield path.join('.') || 'body'
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      if (path.length === 0 && ofUsers.has(name)) continue
      if (isStorable(name)) yield* unstorable(one, [...path, name])
      else yield [...path, 'a name'].join('.')
    }
  }
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
