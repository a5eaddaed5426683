/** q cancel: cancels one run, several runs, or all that match a filter. */
import type { Command } from 'commander'
import type { CancelAnswer } from '@q/store'
import { bulk, type BulkOptions } from '../frame/bulk.ts'
import { changeEach, type RunChange } from '../frame/each-run.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runId } from '../typed/ids.ts'
import { filterOf, withFilterOptions, type FilterOptions } from '../typed/run-filter.ts'
import { requireOneKind } from '../typed/runs-or-filter.ts'

const verdicts: RunChange<CancelAnswer>['verdicts'] = {
  cancelled: ['is CANCELLED', true],
  requested: ['is running; its node was asked to stop it', true],
  'already-ended': ['has ended already', false],
  'not-found': ['does not exist', false],
}

export function cancelCommand(terminal: Terminal): Command {
  const command = newCommand({
    name: 'cancel',
    summary: 'cancel runs: those that have not started end at once, running ones are stopped by their node',
    examples: [
      ['q cancel 9123 9124', 'two runs'],
      ['q cancel --task resize --status queued,running', 'everything that matches, after a preview and a question'],
    ],
    json: '{ items: [{ id, answer: cancelled | requested | already-ended | not-found }] }; by filter the operation',
    route: 'POST /api/runs/{id}/cancel, POST /api/operations',
  })
    .argument('[runs...]', 'ids of runs')
    .option('--reason <text>', 'recorded as the detail of the cancelled runs', 'Cancelled.')
    .option('--yes', 'do not ask before everything that matches is cancelled')
    .option('--dry-run', 'by filter: only count what matches, with samples')
    .option('--detach', 'by filter: do not wait for the end')
  return withFilterOptions(command).action(
    async (runs: string[], options: CommonOptions & FilterOptions & BulkOptions & { reason: string }) => {
      await operate(terminal, options, async (frame) => {
        const ids = runs.map(runId)
        requireOneKind('cancel', ids, options)
        if (ids.length === 0) return bulk(frame, 'cancel', await filterOf(frame.store, options), options)
        return changeEach(frame, ids, {
          what: 'cancel',
          verdicts,
          act: (them) => frame.store.cancelTaskRuns(them, options.reason),
        })
      })
    },
  )
}
