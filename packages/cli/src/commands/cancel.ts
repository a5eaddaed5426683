/** q cancel: cancels one run, several runs, or all that match a filter. */
import type { Command } from 'commander'
import { ExplainedError } from '@q/schema'
import type { CancelAnswer } from '@q/store'
import { changeEach, type RunChange } from '../frame/each-run.ts'
import { bulkRunsCommand, type RunsOptions } from '../frame/runs-command.ts'
import type { Terminal } from '../frame/terminal.ts'

export function cancelCommand(terminal: Terminal): Command {
  const command = bulkRunsCommand(terminal, {
    texts: {
      name: 'cancel',
      summary: 'cancel runs: those that have not started end at once, running ones are stopped by their node',
      examples: [
        ['q cancel 9123 9124', 'two runs'],
        ['q cancel --task resize --status queued,running', 'everything that matches, after a preview and a question'],
      ],
      json: '{ items: [{ id, answer: cancelled | requested | already-ended | not-found }] }; by filter the operation; with --dry-run { dryRun, items } or { dryRun, match, samples, exhausted, lookedBackTo, next }',
      route: 'POST /api/runs/{id}/cancel, POST /api/operations',
    },
    path: 'cancel',
    kind: 'cancel',
    changed: 'cancelled',
    byId: (context, ids, options) => changeEach(context, ids, change(options), options),
    checkFilter: refuseReason,
  })
  return command.option('--reason <text>', 'by id: recorded as the detail of the cancelled runs')
}

function change({ reason }: RunsOptions): RunChange<CancelAnswer> {
  return {
    what: 'cancel',
    act: ({ store }, ids) => store.cancelTaskRuns(ids, reason ?? 'Cancelled.'),
    rehearse: (store, ids) => store.rehearseCancel(ids),
    sentences: {
      cancelled: ['is CANCELLED', true, 'would be CANCELLED'],
      requested: ['is running; its node was asked to stop it', true, 'is running; its node would be asked to stop it'],
      'already-ended': ['has ended already', false],
      'not-found': ['does not exist', false],
    },
  }
}

/** An operation records itself as the reason: a text of its own would be lost without a word. */
function refuseReason({ reason }: RunsOptions): void {
  if (reason === undefined) return
  throw new ExplainedError({
    code: 'REASON_BY_ID_ONLY',
    what: '--reason was given with a filter. Nothing was changed.',
    why: 'Runs that a filter cancels have the operation and the person as their detail.',
    fix: 'Leave out --reason, or name the runs: q cancel 123 --reason "bad input"',
  })
}
