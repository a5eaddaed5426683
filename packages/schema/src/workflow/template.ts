/**
 * Fills templates and evaluates conditions. A template is filled as text: results of steps are inserted as JSON text, so
 * that they need not be parsed.
 */
import type { Condition, ValueRef, Template, PlannedTest } from './plan.ts'
import type { TerminalState } from '../task-states.ts'

/** Returns the value at a JSON pointer; undefined if there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const part of pointerParts(pointer)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = Reflect.get(found, part)
  }
  return found
}

/** Returns the keys along a JSON pointer. */
export function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Fills in the references whose value is known; the others stay references. */
export function fillSome(template: Template, valueOf: (ref: ValueRef) => { value: unknown } | undefined): Template {
  const references: Record<string, ValueRef> = {}
  let { value } = template
  for (const [pointer, ref] of Object.entries(template.holes)) {
    const found = valueOf(ref)
    if (found === undefined) references[pointer] = ref
    else value = withValue(value, pointerParts(pointer), found.value)
  }
  return { value, holes: references }
}

function withValue(whole: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  if (Array.isArray(whole))
    return whole.map((member: unknown, index) => (String(index) === key ? withValue(member, rest, value) : member))
  const object = typeof whole === 'object' && whole !== null ? whole : {}
  return { ...object, [key]: withValue(Reflect.get(object, key), rest, value) }
}

/** Returns JSON text; `texts` has, by pointer, the JSON text to insert. */
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

/** Returns the pointers of the values that contain a reference. */
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

export interface ConditionInputs {
  valueOf(ref: ValueRef): unknown
  endOf(step: string): TerminalState | undefined
}

export function conditionHolds(condition: Condition, inputs: ConditionInputs): boolean {
  if ('all' in condition) return condition.all.every((part) => conditionHolds(part, inputs))
  if ('any' in condition) return condition.any.some((part) => conditionHolds(part, inputs))
  if ('not' in condition) return !conditionHolds(condition.not, inputs)
  if ('step' in condition) {
    const end = inputs.endOf(condition.step)
    return end !== undefined && condition.ended.includes(end)
  }
  const value = inputs.valueOf(condition.value) ?? null
  if (condition.is === 'truthy') return Boolean(value)
  return condition.is === 'falsy' ? !value : passes(value, condition.is)
}

function passes(value: unknown, test: PlannedTest): boolean {
  if ('equals' in test) return isSame(value, test.equals)
  if ('oneOf' in test) return test.oneOf.some((one) => isSame(value, one))
  if (typeof value !== 'number') return false
  return 'above' in test ? value > test.above : value < test.below
}

/** Whether two values are equal as JSON; the order of members does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(Reflect.get(a, key), Reflect.get(b, key)))
  )
}
