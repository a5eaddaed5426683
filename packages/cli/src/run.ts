/** Runs one command line in a terminal and returns its exit code. Never throws for wrong input. */
import { CommanderError, type Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { printable } from '@q/schema'
import { withSpokenIds } from './typed/ids.ts'
import { nearestName } from './typed/nearest-name.ts'
import { pathOf } from './frame/next-page.ts'
import { reportProblem } from './frame/run-with-database.ts'
import type { Terminal } from './frame/terminal.ts'
import { versionDocument } from './frame/version.ts'
import { createProgram } from './program.ts'

export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  if (asksVersionAsData(args)) {
    terminal.printData(JSON.stringify(await versionDocument()))
    return exitCodes.ok
  }
  const program = createProgram(terminal)
  overrideExit(program, terminal, args.includes('--json'))
  try {
    await program.parseAsync(withSpokenIds(args, takesValueIn(program, args[0])), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) terminal.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    else reportProblem(terminal, error, { json: args.includes('--json') })
  }
  return terminal.exitCode
}

/** Returns whether an option of the command is followed by a value. */
function takesValueIn(program: Command, name: string | undefined): (option: string) => boolean {
  const options = program.commands.find((command) => command.name() === name)?.options ?? []
  return (written) =>
    options.some((option) => [option.long, option.short].includes(written) && (option.required || option.optional))
}

/** Whether it is `q --version --json`: commander prints the version alone. */
function asksVersionAsData(args: readonly string[]): boolean {
  const [first, second, ...rest] = args.toSorted()
  return rest.length === 0 && first === '--json' && (second === '--version' || second === '-V')
}

/** Applies our exit codes and error reports to nested commands too. */
function overrideExit(command: Command, terminal: Terminal, json: boolean): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.print(text.trimEnd()),
    writeErr: (text) => terminal.tell(text.trimEnd()),
    outputError: (text) => reportUsage(text.replace(/^error: /, '').trim(), command, terminal, json),
  })
  for (const nested of command.commands) overrideExit(nested, terminal, json)
}

function reportUsage(message: string, command: Command, terminal: Terminal, json: boolean): void {
  const problem = withSuggestion(message) + nestedSuggestion(message, command)
  const why = 'The command line cannot be read.'
  const fix = `${pathOf(command)} --help`
  if (json) terminal.printData(JSON.stringify({ error: { code: 'USAGE', message: problem, why, fix } }))
  else terminal.tell(printable(`USAGE  ${problem}\n  fix  ${fix}`))
}

/** Names the commands with this word below another one: `q pause` may be `q queues pause`. */
function nestedSuggestion(message: string, command: Command): string {
  const word = /^unknown command '(.*)'/.exec(message)?.[1]
  const nested = command.commands.flatMap((one) => one.commands).filter((one) => one.name() === word)
  return word === 'help' || nested.length === 0 ? '' : ` Did you mean ${nested.map(pathOf).join(', ')}?`
}

/** Adds the choice that was probably meant, as commander does for commands and options. */
function withSuggestion(message: string): string {
  const [, wrong = '', choices = ''] = /argument '(.*)' is invalid\. Allowed choices are (.*)\.$/.exec(message) ?? []
  const meant = nearestName(wrong, choices.split(', '))
  return meant === undefined ? message : `${message} (Did you mean ${meant}?)`
}
