/**
 * A command that changes runs given by id, or every run that matches a filter: `q retry 123`, `q retry --task resize`. By
 * filter it is an operation, with a preview and a question.
 */
import type { Command } from 'commander'
import type { OperationKind, RunId } from '@q/store'
import type { Terminal } from './terminal.ts'
import { runIds } from '../typed/ids.ts'
import { filterOfOptions, withFilterOptions, type FilterOptions } from '../typed/run-filter.ts'
import { requireOneKind } from '../typed/runs-or-filter.ts'
import { bulk, type BulkOptions } from './bulk.ts'
import { newCommand, operate, type CommandTexts, type CommonOptions, type CommandContext } from './command.ts'

export interface RunsCommand {
  readonly texts: CommandTexts
  /** The name of the command with its parents: `review accept`. */
  readonly path: string
  readonly kind: OperationKind
  /** The past participle, for the help: `retried`. */
  readonly changed: string
  /** Changes the runs with these ids, or says what it would change; returns the exit code. */
  readonly byId: (context: CommandContext, ids: readonly RunId[], options: RunsOptions) => Promise<number>
  /** Throws if an option does not fit a filter. */
  readonly checkFilter?: (options: RunsOptions) => void
}

export interface RunsOptions extends CommonOptions, FilterOptions, BulkOptions {
  readonly reason?: string
}

export function bulkRunsCommand(terminal: Terminal, { texts, path, kind, changed, ...how }: RunsCommand): Command {
  const command = newCommand(texts)
    .argument('[runs...]', 'ids of runs')
    .option('--yes', `by filter: do not ask before everything that matches is ${changed}`)
    .option('--dry-run', 'change nothing: say what would be done, by filter with a count and samples')
    .option('--detach', 'by filter: do not wait for the end')
    .option('--look <n>', 'by filter: the preview reads this many runs, up to 1000000; default 200000')
  return withFilterOptions(command).action(async (runs: string[], options: RunsOptions) => {
    await operate(terminal, options, async (context) => {
      const ids = runIds(runs)
      requireOneKind(path, ids, options)
      if (ids.length > 0) return how.byId(context, ids, options)
      how.checkFilter?.(options)
      return bulk(context, { kind, path, filter: await filterOfOptions(context.store, options) }, options)
    })
  })
}
