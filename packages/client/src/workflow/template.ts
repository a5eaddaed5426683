/** What the author wrote, with placeholders in it, as JSON with holes. What is neither is left for checkPlan to name. */
import type { Hole, Template } from '@q/schema/workflow'
import { originOf, type Origin, type Scope } from './placeholder.ts'
import { invalidWorkflow } from './workflow-error.ts'

/** Deeper data cannot be stored; it may even contain itself. */
const levelsMax = 64

/** `scopes`: whose placeholders may be in it. */
export function templateOf(given: unknown, ...scopes: Scopes): Template {
  const holes: Record<string, Hole> = {}
  const value = fold(given, scopes, (pointer, { hole }) => (holes[pointer] = hole))
  return { value, holes }
}

/** Every placeholder in it. */
export function originsIn(given: unknown, ...scopes: Scopes): readonly Origin[] {
  const origins: Origin[] = []
  fold(given, scopes, (_, origin) => origins.push(origin))
  return origins
}

/** Undefined: it is no placeholder. One that cannot be filled here is refused. */
export function knownOrigin(candidate: unknown, ...scopes: Scopes): Origin | undefined {
  const origin = originOf(candidate)
  if (origin === undefined || scopes.includes(origin.scope)) return origin
  const [{ workflow }] = scopes
  if (origin.scope.workflow === workflow)
    throw invalidWorkflow(workflow, ['it uses the item of a map outside of that map'])
  const other = JSON.stringify(origin.scope.workflow)
  throw invalidWorkflow(workflow, [`it uses a placeholder of the workflow ${other}, which only that one can fill`])
}

type Scopes = readonly [Scope, ...Scope[]]
type Seen = (pointer: string, origin: Origin) => void

function fold(part: unknown, scopes: Scopes, seen: Seen, pointer = '', level = 0): unknown {
  const origin = knownOrigin(part, ...scopes)
  if (origin !== undefined) {
    seen(pointer, origin)
    return null
  }
  const below = (member: unknown, key: string | number) =>
    fold(member, scopes, seen, `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`, level + 1)
  if (level > levelsMax) return part
  if (Array.isArray(part)) return part.map(below)
  if (!isPlain(part)) return part
  return Object.fromEntries(Object.entries(part).map(([key, member]) => [key, below(member, key)]))
}

function isPlain(part: unknown): part is object {
  if (typeof part !== 'object' || part === null) return false
  const prototype: unknown = Object.getPrototypeOf(part)
  return prototype === Object.prototype || prototype === null
}
