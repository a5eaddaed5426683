/**
 * Templates filled, and conditions judged. A template is filled as text: results of steps are spliced in as the JSON text
 * they are, so that nobody parses what only passes through.
 */
import type { Condition, Hole, Template, ValueTest } from './plan.ts'
import type { TerminalState } from '../task-states.ts'

/** What is at a JSON pointer; undefined where there is no such place. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const part of partsOf(pointer)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = Reflect.get(found, part)
  }
  return found
}

/** The keys along a JSON pointer. */
export function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Fills those holes for which there is a value, and leaves the others as holes. */
export function fillSome(template: Template, valueOf: (hole: Hole) => { value: unknown } | undefined): Template {
  const holes: Record<string, Hole> = {}
  let { value } = template
  for (const [pointer, hole] of Object.entries(template.holes)) {
    const found = valueOf(hole)
    if (found === undefined) holes[pointer] = hole
    else value = withValue(value, partsOf(pointer), found.value)
  }
  return { value, holes }
}

function withValue(whole: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  if (Array.isArray(whole))
    return whole.map((member: unknown, index) => (String(index) === key ? withValue(member, rest, value) : member))
  const object = typeof whole === 'object' && whole !== null ? whole : {}
  return { ...object, [key]: withValue(Reflect.get(object, key), rest, value) }
}

/** The whole as JSON text; `texts`: by pointer, the JSON text that belongs there. */
export function filledText(value: unknown, texts: ReadonlyMap<string, string>): string {
  return texts.size === 0 ? JSON.stringify(value ?? null) : textOf(value, '', texts, ancestorsOf(texts.keys()))
}

function textOf(
  value: unknown,
  pointer: string,
  texts: ReadonlyMap<string, string>,
  above: ReadonlySet<string>,
): string {
  const text = texts.get(pointer)
  if (text !== undefined) return text
  if (!above.has(pointer)) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) {
    return `[${value.map((member: unknown, index) => textOf(member, `${pointer}/${index}`, texts, above)).join(',')}]`
  }
  const members = Object.entries(value ?? {}).map(([key, member]) => {
    const part = key.replaceAll('~', '~0').replaceAll('/', '~1')
    return `${JSON.stringify(key)}:${textOf(member, `${pointer}/${part}`, texts, above)}`
  })
  return `{${members.join(',')}}`
}

/** Places with a hole somewhere below. */
function ancestorsOf(pointers: Iterable<string>): Set<string> {
  const above = new Set<string>()
  for (const pointer of pointers) {
    for (let end = pointer.lastIndexOf('/'); end >= 0; end = pointer.lastIndexOf('/', end - 1)) {
      above.add(pointer.slice(0, end))
      if (end === 0) break
    }
  }
  return above
}

export interface Evidence {
  valueOf(hole: Hole): unknown
  endOf(step: string): TerminalState | undefined
}

export function holds(condition: Condition, evidence: Evidence): boolean {
  if ('all' in condition) return condition.all.every((part) => holds(part, evidence))
  if ('any' in condition) return condition.any.some((part) => holds(part, evidence))
  if ('not' in condition) return !holds(condition.not, evidence)
  if ('step' in condition) {
    const end = evidence.endOf(condition.step)
    return end !== undefined && condition.ended.includes(end)
  }
  const value = evidence.valueOf(condition.value) ?? null
  if (condition.is === 'truthy') return Boolean(value)
  return condition.is === 'falsy' ? !value : passes(value, condition.is)
}

function passes(value: unknown, test: ValueTest): boolean {
  if ('equals' in test) return isSame(value, test.equals)
  if ('oneOf' in test) return test.oneOf.some((one) => isSame(value, one))
  if (typeof value !== 'number') return false
  return 'above' in test ? value > test.above : value < test.below
}

/** Equal as JSON; the order of an object's members does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(Reflect.get(a, key), Reflect.get(b, key)))
  )
}
