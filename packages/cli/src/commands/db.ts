/** q db url: the one command that is meant to print a password. */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { answerText } from '../frame/answer.ts'
import { type CommonOptions, newTextCommand } from '../frame/command.ts'
import { runWithDatabase } from '../frame/run-with-database.ts'
import type { Terminal } from '../frame/terminal.ts'

export function dbCommand(terminal: Terminal): Command {
  return new Command('db').description('about the database').addCommand(urlCommand(terminal))
}

function urlCommand(terminal: Terminal): Command {
  return newTextCommand({
    name: 'url',
    summary: "print the database's connection URL, for psql and other tools; contains the password",
    examples: [
      ['psql "$(q db url)"', 'opens psql on the database that q uses'],
      ['q db url --json', 'the URL as data'],
    ],
    json: '{ url }',
  }).action(async (options: CommonOptions) => {
    // An embedded server that this command had to start keeps running, or the URL would be of no use.
    await runWithDatabase(terminal, { ...options, stay: true, anySchema: true }, async ({ url }) => {
      terminal.printData(options.json === true ? answerText({ url }, options.fields) : url)
      return exitCodes.ok
    })
  })
}
