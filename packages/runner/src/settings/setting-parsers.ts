/** The kinds of settings: how each parses its text, and the rule that an invalid text breaks. */
import { isAbsolute } from 'node:path'
import { isName } from '@q/task'
import { presets, type Preset } from './presets.ts'

export interface Setting<T> {
  readonly variable: string
  readonly what: string
  /** For documents. */
  readonly shown: string
  readonly otherwise: (preset: Preset) => T
  /** Returns undefined if the text is not a value of this setting. */
  readonly parse: (text: string) => T | undefined
  readonly rule: string
  /** For a text of several parts: the problem of each part. */
  readonly mistakes?: (text: string) => readonly string[]
  /** A text that passes. */
  readonly passes: string
}

/** A setting for each value. */
export type SettingsOf<Values> = { readonly [Key in keyof Values]: Setting<Values[Key]> }

const second = 1_000
const day = 86_400 * second
/** The largest value that q.task_run can hold. */
const limitMsMax = 2_147_483_647

export function integer(
  variable: string,
  [min, max]: readonly [number, number],
  usual: number,
  what: string,
): Setting<number> {
  return {
    variable,
    what,
    shown: `\`${usual}\``,
    otherwise: () => usual,
    parse: (given) => {
      const value = given.trim() === '' ? Number.NaN : Number(given)
      return Number.isInteger(value) && value >= min && value <= max ? value : undefined
    },
    rule: `must be a whole number from ${min} to ${max}`,
    passes: String(usual),
  }
}

export function threshold(variable: string, key: keyof Preset['thresholds'], what: string): Setting<number> {
  const usual = presets['default']?.thresholds[key] ?? second
  return {
    ...integer(variable, [50, 7 * day], usual, what),
    otherwise: (preset) => preset.thresholds[key],
    shown: 'by preset',
  }
}

/** A limit of runs: milliseconds, or 0 for none, which becomes null. */
export function limit(
  variable: string,
  key: 'timeoutMs' | 'maxSilentMs' | 'unroutableMs',
  what: string,
): Setting<number | null> {
  const { parse, ...rest } = integer(variable, [0, limitMsMax], 0, what)
  return {
    ...rest,
    parse: (given) => {
      const value = parse(given)
      return value === 0 ? null : value
    },
    otherwise: (preset) => preset[key],
    shown: 'by preset',
    passes: '3600000',
  }
}

export function oneOf<const T extends string>(
  variable: string,
  allowed: readonly T[],
  usual: T,
  what: string,
): Setting<T> {
  return {
    variable,
    what,
    shown: `\`${usual}\``,
    otherwise: () => usual,
    parse: (given) => allowed.find((value) => value === given),
    rule: `must be one of ${allowed.join(', ')}`,
    passes: usual,
  }
}

export function boolean(variable: string, what: string): Setting<boolean> {
  const { parse, ...rest } = oneOf(variable, ['on', 'off'], 'on', what)
  return {
    ...rest,
    otherwise: () => true,
    parse: (given) => (parse(given) === undefined ? undefined : given === 'on'),
  }
}

export function string(variable: string, usual: string, what: string): Setting<string> {
  return {
    variable,
    what,
    shown: `\`${usual}\``,
    otherwise: () => usual,
    parse: (given) => (isName(given) ? given : undefined),
    rule: 'must be 1 to 100 letters, digits or . _ - : /',
    passes: 'worker-1',
  }
}

export function path(variable: string, what: string): Setting<string | null> {
  return {
    variable,
    what,
    shown: '',
    otherwise: () => null,
    parse: (given) => (isAbsolute(given) ? given : undefined),
    rule: 'must be an absolute path',
    passes: '/etc/q/destinations.json',
  }
}

export function list(variable: string, shown: string, what: string): Setting<readonly string[]> {
  return { variable, what, shown, otherwise: () => [], parse: listOf, rule: 'must be a list', passes: '' }
}

export function names(variable: string, shown: string, what: string): Setting<readonly string[]> {
  return {
    ...list(variable, shown, what),
    parse: (given) => (listOf(given).every(isName) ? listOf(given) : undefined),
    rule: 'must be names of 1 to 100 letters, digits or . _ - : / separated by commas',
    passes: 'default',
  }
}

const weight = { min: 1, max: 1_000 }

/** Names, each with or without a weight: `cpu:3,default`. A name that itself ends in a colon and digits needs a weight. */
export function weights(variable: string, shown: string, what: string): Setting<Readonly<Record<string, number>>> {
  return {
    variable,
    what,
    shown,
    otherwise: () => ({}),
    parse: (given) =>
      mistakesIn(given).length > 0 ? undefined : Object.fromEntries(listOf(given).map((item) => weighted(item))),
    rule: `must be names with weights from ${weight.min} to ${weight.max}, separated by commas`,
    mistakes: mistakesIn,
    passes: 'cpu:3,default:1',
  }
}

function weighted(item: string): [name: string, weight: number] {
  const [, name = item, digits = '1'] = /^(.*):([-+.\d]*)$/.exec(item) ?? []
  return [name, Number(digits)]
}

function mistakesIn(given: string): string[] {
  const seen = new Set<string>()
  return listOf(given).flatMap((item) => {
    const [name, value] = weighted(item)
    const twice = seen.has(name)
    seen.add(name)
    if (!isName(name)) return `\`${item}\`: a name is 1 to 100 letters, digits or . _ - : /`
    if (!Number.isInteger(value) || value < weight.min || value > weight.max)
      return `\`${item}\`: a weight is a whole number from ${weight.min} to ${weight.max}`
    return twice ? `\`${item}\`: ${name} occurs twice` : []
  })
}

function listOf(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
