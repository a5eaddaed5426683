/** q migrate */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/problem'
import { migrateDatabase, pendingScript } from '@q/store'
import { session } from '../session.ts'

interface Options {
  readonly sql?: true
  readonly json?: true
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the schema of the database up to date')
    .option('--sql', 'change nothing; print what is pending as one script for psql, which records itself')
    .option('--json', 'print { "applied": [names] }')
    .action(async (options: Options) => {
      await session({ ...options, anySchema: true }, async ({ url, description }) => {
        const direct = process.env['DATABASE_URL_DIRECT'] || url
        if (options.sql === true) {
          console.log(await pendingScript(direct))
          return exitCodes.ok
        }
        const applied = await migrateDatabase(direct)
        if (options.json === true) console.log(JSON.stringify({ applied }))
        else if (applied.length === 0) console.log(`Nothing to do: ${description} is current.`)
        else console.log(`Migrated ${description}: ${applied.join(', ')}.`)
        return exitCodes.ok
      })
    })
}
