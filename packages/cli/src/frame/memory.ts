/**
 * The context of a command that uses an MCP memory server: finds its file, starts its process, prints the answer and
 * explains errors.
 */
import { resolve } from 'node:path'
import type { Memory } from '@q/destinations/memory'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import { answerText } from './answer.ts'
import type { CommonOptions } from './command.ts'
import { patiently } from './patience.ts'
import { reportProblem } from './run-with-database.ts'
import type { Look, Terminal } from './terminal.ts'

export interface MemoryCommandOptions extends CommonOptions {
  readonly file?: string
  readonly command?: string
}

export interface MemoryAnswer {
  readonly document: object
  readonly text: (look: Look) => string
}

/** Runs `work` with the memory file and prints its answer. */
export async function withMemory(
  terminal: Terminal,
  options: MemoryCommandOptions,
  work: (memory: Memory, file: string) => Promise<MemoryAnswer>,
): Promise<void> {
  const { json, fields, wide } = options
  try {
    const { document, text } = await patiently(
      terminal,
      () => 'waiting for the memory server',
      () => ask(options, terminal.env, work),
    )
    if (json === true) terminal.printData(answerText(document, fields))
    else terminal.print(text(wide === true ? { ...terminal, columns: 0 } : terminal))
    terminal.exitCode = exitCodes.ok
  } catch (error) {
    reportProblem(terminal, error, { ...(json && { json }) })
  }
}

async function ask(
  options: MemoryCommandOptions,
  env: NodeJS.ProcessEnv,
  work: (memory: Memory, file: string) => Promise<MemoryAnswer>,
): Promise<MemoryAnswer> {
  const file = memoryFile(options, env)
  const { MemoryFailure, openMemory } = await import('@q/destinations/memory')
  const memory = await openMemory({ file, command: options.command?.trim().split(/\s+/) ?? null })
  try {
    return await work(memory, file)
  } catch (error) {
    throw error instanceof MemoryFailure ? serverFailed(error) : error
  } finally {
    await memory.close()
  }
}

/** Absolute: the server would look for a relative path inside its own package. */
function memoryFile({ file }: MemoryCommandOptions, env: NodeJS.ProcessEnv): string {
  const named = file ?? env['Q_MEMORY_FILE']
  if (named) return resolve(env['INIT_CWD'] ?? '.', named)
  throw new ExplainedError({
    code: 'MEMORY_FILE_MISSING',
    what: 'No memory file is named.',
    why: 'The default file of a memory server lies inside its package, where the next installation removes it.',
    fix: 'Use --file, or set Q_MEMORY_FILE.',
  })
}

function serverFailed(failure: Error): ExplainedError {
  return new ExplainedError({
    code: 'MEMORY_SERVER_FAILED',
    what: 'The memory server did not execute the request.',
    why: failure.message,
    fix: 'Correct the file or the command; q memory test shows whether both work.',
    cause: failure,
  })
}
