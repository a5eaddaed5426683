/**
 * q migrate: migrates the database. If replicas of older releases are alive, the command names them and requires
 * `--yes`.
 */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import { migrateDatabase, migrationPlan, pendingScript, type OlderReplica } from '@q/store'
import { answerText } from '../frame/answer.ts'
import { type CommonOptions, newTextCommand } from '../frame/command.ts'
import { patiently } from '../frame/patience.ts'
import { runWithDatabase } from '../frame/run-with-database.ts'
import type { Terminal } from '../frame/terminal.ts'

interface Options extends CommonOptions {
  readonly sql?: true
  readonly yes?: true
}

export function migrateCommand(terminal: Terminal): Command {
  return newTextCommand({
    name: 'migrate',
    summary: 'bring the schema of the database up to date',
    examples: [
      ['q migrate', 'applies what is pending'],
      ['q migrate --sql | psql "$(q db url)"', 'shows the DDL first, and applies it with psql'],
    ],
    json: '{ applied: [names] }; with --sql { pending: [names], sql }',
  })
    .option('--sql', 'change nothing; print what is pending as one script for psql, which records itself')
    .option('--yes', 'migrate even while replicas of older releases are alive')
    .action(async (options: Options) => {
      await runWithDatabase(terminal, { ...options, anySchema: true }, async ({ url, description }) => {
        const direct = terminal.env['DATABASE_URL_DIRECT'] || url
        const pending = await planBesideOlderReplicas(terminal, direct, options)
        const document = (members: object) => terminal.printData(answerText(members, options.fields))
        if (options.sql === true) {
          const sql = await patiently(
            terminal,
            () => readingSchema,
            () => pendingScript(direct),
          )
          if (options.json === true) document({ pending, sql })
          else terminal.printData(sql)
          return exitCodes.ok
        }
        const applied = await patiently(
          terminal,
          () => 'applying migrations',
          () => migrateDatabase(direct),
        )
        if (options.json === true) document({ applied })
        else if (applied.length === 0) terminal.print(`Nothing to do: ${description} is current.`)
        else terminal.print(`Migrated ${description}: ${applied.join(', ')}.`)
        return exitCodes.ok
      })
    })
}

const readingSchema = 'reading the schema'

/** Returns the pending migrations, unless `--yes` is missing while replicas of older releases are alive. */
async function planBesideOlderReplicas(
  terminal: Terminal,
  url: string,
  { yes, sql }: Options,
): Promise<readonly string[]> {
  const { pending, olderReplicas } = await patiently(
    terminal,
    () => readingSchema,
    () => migrationPlan(url),
  )
  if (pending.length === 0 || olderReplicas.length === 0) return pending
  const what = `Replicas of older releases are alive: ${olderReplicas.map(nameOf).join(', ')}.`
  if (yes === true || sql === true) {
    terminal.tell(what)
    return pending
  }
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
