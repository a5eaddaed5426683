/**
 * q migrate: migrates the database. If replicas of older releases are alive, the command names them and requires
 * `--yes`.
 */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import { migrateDatabase, migrationPlan, pendingScript, type OlderReplica } from '@q/store'
import { patiently } from '../frame/patience.ts'
import { session } from '../frame/session.ts'
import type { Terminal } from '../frame/terminal.ts'

interface Options {
  readonly sql?: true
  readonly yes?: true
  readonly json?: true
}

const examples = `
Examples:
  q migrate                               applies what is pending
  q migrate --sql | psql "$(q db url)"    shows the DDL first, and applies it with psql

JSON: { "applied": [names] }`

export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description('bring the schema of the database up to date')
    .option('--sql', 'change nothing; print what is pending as one script for psql, which records itself')
    .option('--yes', 'migrate even while replicas of older releases are alive')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      await session(terminal, { ...options, anySchema: true }, async ({ url, description }) => {
        const direct = terminal.env['DATABASE_URL_DIRECT'] || url
        await refuseBesideOlderReplicas(terminal, direct, options)
        if (options.sql === true) {
          terminal.printData(
            await patiently(
              terminal,
              () => readingSchema,
              () => pendingScript(direct),
            ),
          )
          return exitCodes.ok
        }
        const applied = await patiently(
          terminal,
          () => 'applying migrations',
          () => migrateDatabase(direct),
        )
        if (options.json === true) terminal.printData(JSON.stringify({ applied }))
        else if (applied.length === 0) terminal.print(`Nothing to do: ${description} is current.`)
        else terminal.print(`Migrated ${description}: ${applied.join(', ')}.`)
        return exitCodes.ok
      })
    })
}

const readingSchema = 'reading the schema'

async function refuseBesideOlderReplicas(terminal: Terminal, url: string, { yes, sql }: Options): Promise<void> {
  const { pending, olderReplicas } = await patiently(
    terminal,
    () => readingSchema,
    () => migrationPlan(url),
  )
  if (pending.length === 0 || olderReplicas.length === 0) return
  const what = `Replicas of older releases are alive: ${olderReplicas.map(nameOf).join(', ')}.`
  if (yes === true || sql === true) return terminal.tell(what)
  throw new ExplainedError({
    code: 'OLDER_REPLICAS_ALIVE',
    what,
    why: `${pending.join(', ')} would change the schema while they run. Replicas that the new schema declares too old drain and leave; the others keep working.`,
    fix: 'Stop or upgrade them first, or migrate anyway: q migrate --yes',
  })
}

function nameOf({ name, hostname, version, level }: OlderReplica): string {
  return `${name} on ${hostname} (version ${version}, ${level === null ? 'no level' : `level ${level}`})`
}
