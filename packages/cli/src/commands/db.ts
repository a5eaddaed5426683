/** q db url: the one command that is meant to print a password. */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/problem'
import { session } from '../session.ts'

export function dbCommand(): Command {
  const db = new Command('db').description('about the database')
  db.command('url')
    .description("print the database's connection URL, for psql and other tools; contains the password")
    .option('--json', 'print { "url": … }')
    .action(async (options: { json?: true }) => {
      // An embedded server that we had to start goes on, or the URL would be of no use.
      await session({ ...options, stay: true, anySchema: true }, async ({ url }) => {
        console.log(options.json === true ? JSON.stringify({ url }) : url)
        return exitCodes.ok
      })
    })
  return db
}
