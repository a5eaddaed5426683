/** The settings of a memory destination, and every mistake in them. Does not load the MCP client. */
import { isAbsolute } from 'node:path'
import type { Settings } from '../sender.ts'

export interface MemorySettings {
  /** The absolute path of the memory server's file. Null: the sending replica reads it from `Q_MEMORY_FILE`. */
  readonly file: string | null
  /** The program that serves the file, and its arguments. Null: the installed `@modelcontextprotocol/server-memory`. */
  readonly command: readonly string[] | null
  /** The prefix of every key. */
  readonly prefix: string
  /** Whether claimed runs have a lock in the file, which costs writes for each claim and each end. */
  readonly locks: boolean
}

const known = ['file', 'command', 'prefix', 'locks']
const prefixPattern = /^[\w.-]+(\/[\w.-]+)*$/
const prefixLengthMax = 100

export function memoryProblems(settings: Settings): readonly string[] {
  const { file, command, prefix, locks } = settings
  const problems: string[] = []
  if (file !== undefined && (typeof file !== 'string' || !isAbsolute(file)))
    problems.push('"file" must be an absolute path: the server would look for another one inside its own package.')
  if (command !== undefined && !isCommand(command))
    problems.push('"command" must be a list of texts: the program, then its arguments.')
  if (prefix !== undefined && !isPrefix(prefix))
    problems.push(
      `"prefix" must be at most ${prefixLengthMax} letters, digits, ".", "_" and "-", in parts separated by "/".`,
    )
  if (locks !== undefined && typeof locks !== 'boolean') problems.push('"locks" must be true or false.')
  for (const name of Object.keys(settings).filter((key) => !known.includes(key)))
    problems.push(`"${name}" is not a setting of a memory destination; it has ${known.join(', ')}.`)
  return problems
}

/** Reads settings that have passed the check. */
export function readMemorySettings(settings: Settings): MemorySettings {
  const { file = null, command = null, prefix = 'task-sentinel', locks = false } = settings as Partial<MemorySettings>
  return { file, command, prefix, locks }
}

function isCommand(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string' && part !== '')
}

function isPrefix(value: unknown): boolean {
  return typeof value === 'string' && value.length <= prefixLengthMax && prefixPattern.test(value)
}
