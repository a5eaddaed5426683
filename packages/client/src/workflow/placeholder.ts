/**
 * Placeholders: objects that know where a value will come from and refuse to be the value.
 *
 * The function of a workflow runs once, before any step. Whoever puts a placeholder into text, counts with it, iterates,
 * spreads, awaits, calls or serialises it believes that there is a result already, and is told so at that place. What
 * JavaScript does not let an object notice goes unnoticed: `if (ref)`, `!ref`, `ref ?? x`, `ref === x`, `typeof ref`.
 */
import { inspect } from 'node:util'
import { ExplainedError } from '@q/schema'
import type { Hole } from '@q/schema/workflow'

/** Where placeholders can be filled: a workflow, or the payload of one of its maps. Told apart by identity. */
export interface Scope {
  readonly workflow: string
}

/** Where a placeholder's value will come from. */
export interface Origin {
  readonly scope: Scope
  readonly hole: Hole
  /** The author takes it also if there is no result. */
  readonly orMissing: boolean
}

/** By placeholder; nothing of it can be seen on the placeholder itself. */
const origins = new WeakMap<object, Origin>()

/** Undefined: it is no placeholder. */
export function originOf(candidate: unknown): Origin | undefined {
  const isObject = typeof candidate === 'function' || (typeof candidate === 'object' && candidate !== null)
  return isObject ? origins.get(candidate) : undefined
}

export function placeholder(origin: Origin): object {
  const refuse = (how: string): never => {
    throw usedAsValue(origin, how)
  }
  // A function, so that a call can be refused with the same words, and so that at() can be one.
  const target = Object.defineProperty(() => {}, inspect.custom, {
    value: () => `Ref(${nameOf(origin)})`,
    configurable: true,
  })
  const made = new Proxy(target, {
    get(_, key) {
      const misuse = misuses.get(key)
      if (misuse !== undefined) return refuse(misuse)
      return typeof key === 'symbol' ? undefined : placeholder(member(origin, key))
    },
    apply: (_, __, args: readonly unknown[]) => element(origin, args) ?? refuse('it was called like a function'),
    ownKeys: () => refuse('it was spread, or its keys were read'),
    has: () => refuse('it was asked for a key with "in"'),
    set: () => refuse('something was assigned to a member of it'),
    defineProperty: () => refuse('something was assigned to a member of it'),
    deleteProperty: () => refuse('a member of it was deleted'),
    getPrototypeOf: () => refuse('it was asked for its class'),
  })
  origins.set(made, origin)
  return made
}

const misuses = new Map<string | symbol, string>([
  [Symbol.toPrimitive, 'it was put into text, counted with or compared'],
  [Symbol.iterator, 'it was iterated or spread; use map() for a list'],
  [Symbol.asyncIterator, 'it was iterated'],
  ['then', 'it was awaited'],
  ['toJSON', 'it was turned into JSON'],
  ['toString', 'it was put into text'],
  ['valueOf', 'it was counted with or compared'],
])

function member({ hole, ...rest }: Origin, key: string): Origin {
  return { ...rest, hole: { ...hole, at: `${hole.at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` } }
}

/** `list.at(2)`: a call of the member `at`, with a place. */
function element(origin: Origin, [index, ...others]: readonly unknown[]): object | undefined {
  const { hole, ...rest } = origin
  const isPlace = Number.isInteger(index) && Number(index) >= 0 && others.length === 0
  if (!hole.at.endsWith('/at') || !isPlace) return undefined
  return placeholder({ ...rest, hole: { ...hole, at: `${hole.at.slice(0, -'at'.length)}${String(index)}` } })
}

function nameOf({ hole }: Origin): string {
  const of = { step: 'the result of step', input: 'the input', item: 'an item' }[hole.from]
  const which = hole.from === 'step' ? ` ${JSON.stringify(hole.step)}` : ''
  return `${of}${which}${hole.at === '' ? '' : ` at ${hole.at}`}`
}

function usedAsValue(origin: Origin, how: string): ExplainedError {
  return new ExplainedError({
    code: 'PLACEHOLDER_USED_AS_VALUE',
    what: `Workflow ${JSON.stringify(origin.scope.workflow)} uses ${nameOf(origin)} as a value: ${how}.`,
    why: 'The function of a workflow runs once, before any step: there is no value yet, only a placeholder for it.',
    fix: 'Pass it on in a payload, to map(), in when or as output; compute with it inside of a task.',
  })
}
