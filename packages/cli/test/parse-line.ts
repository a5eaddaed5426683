/** Parses a command line with the program's own parser, and executes nothing. */
import { type Command, CommanderError } from 'commander'
import { createProgram } from '../src/program.ts'
import type { Terminal } from '../src/frame/terminal.ts'
import { commandsIn } from './suggested-commands.ts'

/** The q commands in these texts that are not valid, with the reason. */
export async function problemsOf(texts: readonly string[]): Promise<string[]> {
  const problems = texts.flatMap((text) =>
    commandsIn(text).map(async (words) => {
      const problem = await problemOf(words)
      return problem === undefined ? [] : [`${text}: ${problem}`]
    }),
  )
  return (await Promise.all(problems)).flat()
}

/** Undefined: the command line is valid. */
export async function problemOf(words: readonly string[]): Promise<string | undefined> {
  try {
    await inert(createProgram({} as Terminal)).parseAsync(words, { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return error.code === 'commander.help' ? undefined : error.message
    throw error
  }
}

function inert(command: Command): Command {
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} })
  // A command that only has nested ones prints its help.
  if (command.commands.length === 0 || command.registeredArguments.length + command.options.length > 0)
    command.action(() => {})
  for (const nested of command.commands) inert(nested)
  return command
}
