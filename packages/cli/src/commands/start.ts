/** q start */
import { loadModules } from '@q/runner/load-modules'
import { Command } from 'commander'
import type { Terminal } from '../frame/terminal.ts'

const examples = `
Examples:
  q start                                      a replica with the demo tasks, on an embedded PostgreSQL
  DATABASE_URL=… Q_TASKS=tasks.ts q start      a replica with tasks of yours that joins a cluster

JSON: the log, one document per line, as always if stdout is no terminal. The line with "msg": "started" has { version, database,
  replicaId, name, threads, preset, tasks, page }; a start that fails ends with { error: { code, message, why, fix } }.`

export function startCommand(terminal: Terminal): Command {
  return new Command('start')
    .description('run a replica until SIGTERM or Ctrl-C')
    .option('--json', 'print the log as JSON, on a terminal too, and an error as a document')
    .addHelpText('after', examples)
    .action(async ({ json }: { readonly json?: true }) => {
      // Only this command needs the runner, which takes longer to load than most commands to execute.
      const { start } = await loadModules(() => import('@q/runner/start'))
      terminal.exitCode = await start(terminal.env, { json: json === true })
    })
}
