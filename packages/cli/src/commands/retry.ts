/** q retry: starts ended runs again in a new epoch. */
import type { Command } from 'commander'
import type { RetryAnswer } from '@q/store'
import { bulk, type BulkOptions } from '../frame/bulk.ts'
import { changeEach, type RunChange } from '../frame/each-run.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runId } from '../typed/ids.ts'
import { filterOf, withFilterOptions, type FilterOptions } from '../typed/run-filter.ts'
import { requireOneKind } from '../typed/runs-or-filter.ts'

export const retryVerdicts: RunChange<RetryAnswer>['verdicts'] = {
  retried: ['begins again in a new epoch', true],
  'not-ended': ['has not ended', false],
  ending: ['is a step of a workflow that is ending; wait for its end, then q workflows retry-failed', false],
  compensated: ['is a step of a workflow whose compensation has begun', false],
  conflict: ['was not retried: another live run of its task has its unique key', false],
  'not-found': ['does not exist', false],
}

export function retryCommand(terminal: Terminal): Command {
  const command = newCommand({
    name: 'retry',
    summary: 'start ended runs again, in a new epoch; their history stays',
    examples: [
      ['q retry 9123', 'one run'],
      ['q retry --errors 9f3a --since 1h', 'every run that ended with that error, after a preview and a question'],
    ],
    json: '{ items: [{ id, answer: retried | not-ended | ending | compensated | conflict | not-found }] }; by filter the operation',
    route: 'POST /api/runs/{id}/retry, POST /api/operations',
  })
    .argument('[runs...]', 'ids of runs')
    .option('--yes', 'do not ask before everything that matches is retried')
    .option('--dry-run', 'by filter: only count what matches, with samples')
    .option('--detach', 'by filter: do not wait for the end')
  return withFilterOptions(command).action(
    async (runs: string[], options: CommonOptions & FilterOptions & BulkOptions) => {
      await operate(terminal, options, async (frame) => {
        const ids = runs.map(runId)
        requireOneKind('retry', ids, options)
        if (ids.length === 0) return bulk(frame, 'retry', await filterOf(frame.store, options), options)
        return changeEach(frame, ids, {
          what: 'retry',
          verdicts: retryVerdicts,
          act: async (them) => {
            const answers: RetryAnswer[] = []
            for (const id of them) answers.push(await frame.store.retryTaskRun(id))
            return answers
          },
        })
      })
    },
  )
}
