#!/usr/bin/env node
/** The `q` command. Its commands are the files in commands/. */
import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { exitCodes } from '@q/runner/problem'
import { programVersion } from '@q/runner/start'
import { printable } from '@q/schema'
import { dbCommand } from './commands/db.ts'
import { enqueueCommand } from './commands/enqueue.ts'
import { migrateCommand } from './commands/migrate.ts'
import { repairCommand } from './commands/repair.ts'
import { startCommand } from './commands/start.ts'
import { statusCommand } from './commands/status.ts'

const examples = `
Examples:
  q start                                         run a replica here; with nothing set, on an embedded PostgreSQL
  q enqueue hello '{"name":"Ada"}' --wait         prints the result
  q enqueue primes '{"upTo":3000000}' --wait --json
  echo '{"ms":500}' | q enqueue wait - --delay 10s
  q enqueue resize @payload.json --priority -10
  q status                                        nodes, runs and tasks
  q repair                                        heal workflows that were changed by hand
  q migrate --sql | psql "$(q db url)"            look at the DDL, and run it by hand

Settings: DATABASE_URL (unset: an embedded PostgreSQL), Q_DATA_DIR, Q_TASKS, Q_THREADS, Q_QUEUES, Q_CAPABILITIES, Q_NAME, Q_PRESET,
  Q_LOG_LEVEL, Q_DRAIN_MS, Q_POLL_MS; Q_DEBUG=1 adds stack traces to errors.
Exit codes: 0 ok, 1 the run failed, 2 usage or configuration, 3 database unreachable, 4 not found,
  5 timed out waiting, 7 a replica left runs behind,
  57 this program is too old for the database (do not restart it).`

const fix = 'q --help'
const why = 'The command line cannot be read.'
const output: OutputConfiguration = {
  outputError(text, write) {
    const message = text.replace(/^error: /, '')
    if (process.argv.includes('--json'))
      console.log(JSON.stringify({ error: { code: 'USAGE', message: message.trim(), why, fix } }))
    else write(printable(`USAGE  ${message}  fix  ${fix}\n`))
  },
}

const program = new Command('q')
  .description('Runs CPU-heavy tasks on worker threads; PostgreSQL is the only server it needs.')
  .addHelpText('after', examples)
  .showSuggestionAfterError()
  .version(programVersion())

for (const command of [startCommand, enqueueCommand, statusCommand, repairCommand, migrateCommand, dbCommand]) {
  program.addCommand(command().copyInheritedSettings(program))
}
overrideExit(program)

/** Our exit codes, also for what nested commands refuse. */
function overrideExit(command: Command): void {
  command.exitOverride().configureOutput(output)
  for (const nested of command.commands) overrideExit(nested)
}

// The reader may stop reading: `q --help | head -1`. A replica continues without the reader of its log.
const leave = (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.runFailed)
process.stdout.on('error', leave)
program.hook('preAction', (_, action) => void (action.name() === 'start' && process.stdout.off('error', leave)))

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
}
// A connection that was refused half-way may linger; what was to be said is said.
process.exit()
