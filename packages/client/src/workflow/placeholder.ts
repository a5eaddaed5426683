/**
 * Placeholders: objects that know where a value will come from, and throw when they are used as the value.
 *
 * The function of a workflow runs once, before any step. Code that interpolates, calculates with, iterates, spreads, awaits,
 * calls or serialises a placeholder expects a result that does not exist yet, so the placeholder throws there. JavaScript
 * cannot detect these uses: `if (ref)`, `!ref`, `ref ?? x`, `ref === x`, `typeof ref`.
 */
import { inspect } from 'node:util'
import { ExplainedError } from '@q/schema'
import type { ValueRef } from '@q/schema/workflow'

/** Where placeholders are valid: a workflow, or the payload of one of its maps. Compared by identity. */
export interface PlaceholderScope {
  readonly workflow: string
}

/** Where a placeholder's value will come from. */
export interface PlaceholderSource {
  readonly scope: PlaceholderScope
  readonly ref: ValueRef
  /** Whether the author accepts a missing result. */
  readonly orMissing: boolean
}

/** The source of each placeholder, kept outside so that the placeholder has no visible members of its own. */
const sources = new WeakMap<object, PlaceholderSource>()

/** The source of a placeholder; undefined for any other value. */
export function sourceOf(candidate: unknown): PlaceholderSource | undefined {
  const isObject = typeof candidate === 'function' || (typeof candidate === 'object' && candidate !== null)
  return isObject ? sources.get(candidate) : undefined
}

export function placeholder(source: PlaceholderSource): object {
  const refuse = (how: string): never => {
    throw usedAsValue(source, how)
  }
  // The target is a function, so that calls can be intercepted and `at()` can be called.
  const target = Object.defineProperty(() => {}, inspect.custom, {
    value: () => `Ref(${nameOf(source)})`,
    configurable: true,
  })
  const made = new Proxy(target, {
    get(_, key) {
      const misuse = misuses.get(key)
      if (misuse !== undefined) return refuse(misuse)
      return typeof key === 'symbol' ? undefined : placeholder(member(source, key))
    },
    apply: (_, __, args: readonly unknown[]) => element(source, args) ?? refuse('it was called like a function'),
    ownKeys: () => refuse('it was spread, or its keys were read'),
    has: () => refuse('it was tested with "in"'),
    set: () => refuse('something was assigned to a member of it'),
    defineProperty: () => refuse('something was assigned to a member of it'),
    deleteProperty: () => refuse('a member of it was deleted'),
    getPrototypeOf: () => refuse('its prototype was read'),
  })
  sources.set(made, source)
  return made
}

const misuses = new Map<string | symbol, string>([
  [Symbol.toPrimitive, 'it was interpolated, used in arithmetic or compared'],
  [Symbol.iterator, 'it was iterated or spread; use map() for a list'],
  [Symbol.asyncIterator, 'it was iterated'],
  ['then', 'it was awaited'],
  ['toJSON', 'it was turned into JSON'],
  ['toString', 'it was put into text'],
  ['valueOf', 'it was used in arithmetic or compared'],
])

function member({ ref, ...rest }: PlaceholderSource, key: string): PlaceholderSource {
  return { ...rest, ref: { ...ref, at: `${ref.at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` } }
}

/** `list.at(2)`: a call of the member `at` with an index. */
function element(source: PlaceholderSource, [index, ...others]: readonly unknown[]): object | undefined {
  const { ref, ...rest } = source
  const isPlace = Number.isInteger(index) && Number(index) >= 0 && others.length === 0
  if (!ref.at.endsWith('/at') || !isPlace) return undefined
  return placeholder({ ...rest, ref: { ...ref, at: `${ref.at.slice(0, -'at'.length)}${String(index)}` } })
}

function nameOf({ ref }: PlaceholderSource): string {
  const of = { step: 'the result of step', input: 'the input', item: 'an item' }[ref.from]
  const which = ref.from === 'step' ? ` ${JSON.stringify(ref.step)}` : ''
  return `${of}${which}${ref.at === '' ? '' : ` at ${ref.at}`}`
}

function usedAsValue(source: PlaceholderSource, how: string): ExplainedError {
  return new ExplainedError({
    code: 'PLACEHOLDER_USED_AS_VALUE',
    what: `Workflow ${JSON.stringify(source.scope.workflow)} uses ${nameOf(source)} as a value: ${how}.`,
    why: 'The function of a workflow runs once, before any step: the value does not exist yet, only a placeholder for it.',
    fix: 'Pass it in a payload, to map(), in when or as output; compute with it inside a task.',
  })
}
