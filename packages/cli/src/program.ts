/** The `q` program: its commands in the order of its help, and their common options. */
import { Command } from 'commander'
import type { Terminal } from './frame/terminal.ts'
import { programVersion } from './frame/version.ts'
import { commands } from './commands.ts'

const help = `
Examples:
  q start                                   run a replica here; with nothing set, on an embedded PostgreSQL
  q enqueue hello '{"name":"Ada"}' --wait   prints the result
  q status                                  what runs, what waits, and what needs you
  q doctor                                  checks the database, the schema and the fleet, with fixes

Settings: DATABASE_URL (unset: an embedded PostgreSQL), Q_DATA_DIR, Q_USER (the name in records of what you did), Q_ASCII=1,
  NO_COLOR=1; Q_DEBUG=1 adds stack traces to errors. Settings of a replica: docs/reference/configuration.md.
JSON: every command takes --json; q --version --json prints { version, schemaVersion }, the newest migration it knows.
Exit codes: 0 ok, 1 it failed, 2 usage or configuration, 3 database unreachable, 4 not found or ambiguous,
  5 timed out waiting, 6 partly done, or findings, 7 a replica left runs behind,
  57 this program is too old for the database (do not restart it).`

export function createProgram(terminal: Terminal): Command {
  const program = new Command('q')
    .description('Runs CPU-heavy tasks on worker threads; PostgreSQL is the only server it needs.')
    .addHelpText('after', help)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .version(programVersion())
  for (const { group, commands: members } of commands) {
    program.commandsGroup(group)
    for (const command of members) program.addCommand(inherit(command(terminal), program))
  }
  return program
}

/** Settings that commander does not pass on to nested commands by itself. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).enablePositionalOptions()
  for (const nested of command.commands) inherit(nested, command)
  return command
}
