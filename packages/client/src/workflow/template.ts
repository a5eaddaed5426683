/** Turns a value with placeholders into JSON with references. `checkPlan` reports values that are neither. */
import type { ValueRef, Template } from '@q/schema/workflow'
import { sourceOf, type PlaceholderSource, type PlaceholderScope } from './placeholder.ts'
import { invalidWorkflow } from './workflow-error.ts'

/** The deepest nesting that can be stored; it also stops at circular data. */
const levelsMax = 64

/** `scopes`: the workflow, and maps, whose placeholders the value may contain. */
export function templateOf(given: unknown, ...scopes: Scopes): Template {
  const references: Record<string, ValueRef> = {}
  const value = fold(given, scopes, (pointer, { ref }) => (references[pointer] = ref))
  return { value, holes: references }
}

/** The sources of all placeholders in the value. */
export function sourcesIn(given: unknown, ...scopes: Scopes): readonly PlaceholderSource[] {
  const sources: PlaceholderSource[] = []
  fold(given, scopes, (_, source) => sources.push(source))
  return sources
}

/** The source of a placeholder; undefined for any other value. Throws for a placeholder that cannot be filled here. */
export function knownSource(candidate: unknown, ...scopes: Scopes): PlaceholderSource | undefined {
  const source = sourceOf(candidate)
  if (source === undefined || scopes.includes(source.scope)) return source
  const [{ workflow }] = scopes
  if (source.scope.workflow === workflow)
    throw invalidWorkflow(workflow, ['it uses the item of a map outside that map'])
  const other = JSON.stringify(source.scope.workflow)
  throw invalidWorkflow(workflow, [`it uses a placeholder of the workflow ${other}, which only that one can fill`])
}

type Scopes = readonly [PlaceholderScope, ...PlaceholderScope[]]
type VisitedObjects = (pointer: string, source: PlaceholderSource) => void

function fold(part: unknown, scopes: Scopes, seen: VisitedObjects, pointer = '', level = 0): unknown {
  const source = knownSource(part, ...scopes)
  if (source !== undefined) {
    seen(pointer, source)
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
