/** q db url: the one command that is meant to print a password. */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { session } from '../frame/session.ts'
import type { Terminal } from '../frame/terminal.ts'

const examples = `
Examples:
  psql "$(q db url)"            opens psql on the database that q uses
  q db url --json              the URL as data

JSON: { "url": … }`

export function dbCommand(terminal: Terminal): Command {
  const db = new Command('db').description('about the database')
  db.command('url')
    .description("print the database's connection URL, for psql and other tools; contains the password")
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples)
    .action(async (options: { json?: true }) => {
      // An embedded server that this command had to start keeps running, or the URL would be of no use.
      await session(terminal, { ...options, stay: true, anySchema: true }, async ({ url }) => {
        terminal.printData(options.json === true ? JSON.stringify({ url }) : url)
        return exitCodes.ok
      })
    })
  return db
}
