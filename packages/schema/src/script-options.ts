/**
 * The options of a script of this workspace (`pnpm chaos:kill`, `pnpm bench`, …), read in one way: `--help` prints the
 * usage, and a mistake is named with the usage and ends the script with 2 before it starts anything. Not shipped.
 */
import { parseArgs } from 'node:util'

export interface NumberOption {
  readonly means: string
  readonly number: number
  /** Default: 0. */
  readonly least?: number
  readonly most?: number
  /** Whether parts of a whole are meant, too. */
  readonly fraction?: true
}

export interface TextOption {
  readonly means: string
  readonly text: string
  /** The texts that it can be; without them any. */
  readonly oneOf?: readonly string[]
}

export interface Flag {
  readonly means: string
  readonly flag: true
}

type Option = NumberOption | TextOption | Flag
export type ScriptOptions = Readonly<Record<string, Option>>
export type ScriptValues<Options extends ScriptOptions> = {
  readonly [Name in keyof Options]: Options[Name] extends NumberOption
    ? number
    : Options[Name] extends Flag
      ? boolean
      : string
}

/** The presets of replicas, for scripts that start some. */
export const presetOption = {
  means: 'preset of the replicas',
  text: 'default',
  oneOf: ['default', 'fast', 'cpu-heavy', 'quick-tasks', 'ci', 'relaxed', 'relaxed-fast', 'relaxed-long'],
} as const

/** Ends the process after `--help`, and after a mistake. */
export function scriptOptions<const Options extends ScriptOptions>(
  script: string,
  options: Options,
  args: readonly string[] = process.argv.slice(2),
): ScriptValues<Options> {
  const read = readScriptOptions(options, args)
  if ('values' in read) return read.values
  const usage = usageOf(script, options)
  if (read.problem === undefined) console.log(usage)
  else console.error(`${read.problem}\n\n${usage}`)
  process.exit(read.problem === undefined ? 0 : 2)
}

type Read<Options extends ScriptOptions> =
  | { readonly values: ScriptValues<Options> }
  /** Undefined: the usage was asked for. */
  | { readonly problem: string | undefined }

/** pnpm passes `--` on, so it is ignored. */
export function readScriptOptions<const Options extends ScriptOptions>(
  options: Options,
  args: readonly string[],
): Read<Options> {
  const known = Object.entries(options).map(([name, option]) => [
    name,
    { type: 'flag' in option ? 'boolean' : 'string' } as const,
  ])
  let given: Readonly<Record<string, unknown>>
  try {
    given = parseArgs({
      args: args.filter((arg) => arg !== '--'),
      options: { ...Object.fromEntries(known), help: { type: 'boolean', short: 'h' } },
    }).values
  } catch (error) {
    return { problem: firstSentence(error) }
  }
  if (given['help'] === true) return { problem: undefined }
  const values: Record<string, unknown> = {}
  for (const [name, option] of Object.entries(options)) {
    const value = valueOf(option, given[name])
    if (value === undefined)
      return { problem: `--${name} cannot be "${String(given[name])}": it takes ${rangeOf(option)}.` }
    values[name] = value
  }
  return { values: values as ScriptValues<Options> }
}

/** Undefined: the option cannot be that. */
function valueOf(option: Option, given: unknown): unknown {
  if ('flag' in option) return given === true
  if ('text' in option) {
    const text = given ?? option.text
    return option.oneOf === undefined || option.oneOf.some((each) => each === text) ? text : undefined
  }
  if (given === undefined) return option.number
  const number = Number(given)
  const isRight = option.fraction === true ? Number.isFinite(number) : Number.isSafeInteger(number)
  return given !== '' && isRight && number >= (option.least ?? 0) && number <= (option.most ?? number)
    ? number
    : undefined
}

function rangeOf(option: Option): string {
  if ('number' in option)
    return `a ${option.fraction === true ? '' : 'whole '}number ${option.most === undefined ? `of at least ${option.least ?? 0}` : `from ${option.least ?? 0} to ${option.most}`}`
  return 'oneOf' in option ? `one of ${option.oneOf?.join(', ')}` : 'a text'
}

function usageOf(script: string, options: ScriptOptions): string {
  const lines = Object.entries(options).map(([name, option]) => {
    const value = 'flag' in option ? '' : 'number' in option ? ' <n>' : ' <text>'
    const standard = 'number' in option ? option.number || '' : 'text' in option ? option.text : ''
    const end = standard === '' ? '' : ` (default ${standard})`
    return [`--${name}${value}`, `${option.means}${end}`] as const
  })
  const width = Math.max(...lines.map(([name]) => name.length), 6)
  const all = [...lines, ['--help', 'print this'] as const]
  return [
    `Usage: pnpm ${script} [options]`,
    '',
    ...all.map(([name, means]) => `  ${name.padEnd(width)}  ${means}`),
  ].join('\n')
}

/** The rest explains how to pass what begins with a dash as an argument, which no script takes. */
function firstSentence(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split(/(?<=\w|')\. /)
  return first.endsWith('.') ? first : `${first}.`
}
