/** q start */
import { Command } from 'commander'
import { start } from '@q/runner/start'

export function startCommand(): Command {
  return new Command('start')
    .description('run a replica until it is told to leave (SIGTERM, Ctrl-C)')
    .action(async () => {
      process.exit(await start())
    })
}
