/** q retry: starts ended runs again in a new epoch. */
import type { Command } from 'commander'
import type { RetryAnswer } from '@q/store'
import { changeEach, type RunChange } from '../frame/each-run.ts'
import { bulkRunsCommand } from '../frame/runs-command.ts'
import type { Terminal } from '../frame/terminal.ts'

/** A retry also marks the recovery of the run as reviewed. */
export const retryChange: RunChange<RetryAnswer> = {
  what: 'retry',
  async act({ store }, ids) {
    const answers: RetryAnswer[] = []
    for (const id of ids) answers.push(await store.retryTaskRun(id))
    return answers
  },
  rehearse: (store, ids) => store.rehearseRetry(ids),
  sentences: {
    retried: ['begins again in a new epoch', true, 'would begin again in a new epoch'],
    'not-ended': ['has not ended', false],
    ending: [
      'is a step of a workflow that is ending; wait for its end, then q workflows retry-failed <workflow>',
      false,
    ],
    compensated: ['is a step of a workflow whose compensation has begun', false],
    conflict: ['cannot be retried: another live run of its task has its unique key', false],
    'not-found': ['does not exist', false],
  },
}

export function retryCommand(terminal: Terminal): Command {
  return bulkRunsCommand(terminal, {
    texts: {
      name: 'retry',
      summary: 'start ended runs again, in a new epoch; their history stays',
      examples: [
        ['q retry 9123', 'one run'],
        [
          'q retry --errors 9f3a --ended-since 1h',
          'every run that ended with that error, after a preview and a question',
        ],
      ],
      json: '{ items: [{ id, answer: retried | not-ended | ending | compensated | conflict | not-found }] }; by filter the operation; with --dry-run { dryRun, items } or { dryRun, match, samples, exhausted, lookedBackTo, next }',
      route: 'POST /api/runs/{id}/retry, POST /api/operations',
    },
    path: 'retry',
    kind: 'retry',
    changed: 'retried',
    byId: (context, ids, options) => changeEach(context, ids, retryChange, options),
  })
}
