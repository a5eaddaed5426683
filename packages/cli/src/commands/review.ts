/** q review: lists runs that failed because their node died, and lets a person accept the loss or retry them. */
import type { Command } from 'commander'
import type { RetryAnswer, RunId } from '@q/store'
import { audited } from '../frame/audited.ts'
import { bulk, type BulkOptions } from '../frame/bulk.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { changeEach } from '../frame/each-run.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runId } from '../typed/ids.ts'
import { filterOf, withFilterOptions, type FilterOptions } from '../typed/run-filter.ts'
import { requireOneKind } from '../typed/runs-or-filter.ts'
import { plural } from '../words/counts.ts'
import { listRecoveries, type RecoveryOptions } from './recoveries.ts'
import { retryVerdicts } from './retry.ts'

export function reviewCommand(terminal: Terminal): Command {
  const review = newCommand({
    name: 'review',
    summary: 'list the runs that failed because their node died; accept or retry them',
    examples: [
      ['q review', 'runs to be reviewed'],
      ['q review accept 9123', 'the run stays as it is, and is no longer to be reviewed'],
      ['q review retry 9123', 'the run begins again, and is no longer to be reviewed'],
    ],
    json: '{ items: [recovery], next }',
    route: 'GET /api/recoveries?toReview=true',
  })
    .option('--node <node>', 'runs that this node held')
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--before <id>', 'continue after the previous page')
    .action(async (options: RecoveryOptions) => {
      await operate(terminal, options, (frame) => listRecoveries(frame, { ...options, toReview: true }, 'q review'))
    })
  review.addCommand(acceptCommand(terminal))
  review.addCommand(retryReviewedCommand(terminal))
  return review
}

function acceptCommand(terminal: Terminal): Command {
  const command = newCommand({
    name: 'accept',
    summary: 'mark recoveries as reviewed; the runs stay as they are',
    examples: [
      ['q review accept 9123 9124', 'two runs'],
      ['q review accept --node eu-3 --yes', 'everything that this node lost, without a question'],
    ],
    json: '{ reviewed }; by filter the operation',
    route: 'POST /api/recoveries/review',
  })
    .argument('[runs...]', 'ids of runs')
    .option('--yes', 'do not ask before everything that matches is accepted')
    .option('--dry-run', 'by filter: only count what matches, with samples')
    .option('--detach', 'by filter: do not wait for the end')
  return withFilterOptions(command).action(
    async (runs: string[], options: CommonOptions & FilterOptions & BulkOptions) => {
      await operate(terminal, options, async (frame) => {
        const ids = runs.map(runId)
        requireOneKind('review accept', ids, options)
        if (ids.length === 0) return bulk(frame, 'review', await filterOf(frame.store, options), options)
        const reviewed = await audited(frame, {
          what: 'review',
          subject: ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`,
          detail: { ids: ids.slice(0, 100) },
          act: () => frame.store.reviewRecoveries({ runIds: ids, by: frame.by }),
          answerOf: (count) => `reviewed ${count}`,
        })
        frame.answer({ reviewed }, () => acceptedText(reviewed, ids.length))
      })
    },
  )
}

function retryReviewedCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'retry',
    summary: 'retry runs and mark their recoveries as reviewed',
    examples: [
      ['q review retry 9123', 'one run'],
      ['q review retry 9123 9124 --json', 'two runs, the answers as data'],
    ],
    json: '{ items: [{ id, answer }] }',
    route: 'POST /api/runs/{id}/retry',
  })
    .argument('<runs...>', 'ids of runs')
    .action(async (runs: string[], options: CommonOptions) => {
      await operate(terminal, options, (frame) =>
        changeEach(frame, runs.map(runId), {
          what: 'retry',
          verdicts: retryVerdicts,
          act: async (ids) => {
            const answers: RetryAnswer[] = []
            for (const id of ids) answers.push(await frame.store.retryTaskRun(id))
            const retried: RunId[] = ids.filter((_, index) => answers[index] === 'retried')
            if (retried.length > 0) await frame.store.reviewRecoveries({ runIds: retried, by: frame.by })
            return answers
          },
        }),
      )
    })
}

function acceptedText(reviewed: number, asked: number): string {
  if (reviewed === 0)
    return `Nothing was accepted: no recovery of ${asked === 1 ? 'this run' : 'these runs'} is without a review.`
  // A run may have been recovered more than once.
  const accepted = `${plural(reviewed, 'recovery', 'recoveries')} accepted`
  return reviewed >= asked ? `${accepted}.` : `${accepted}; the other runs have none without a review.`
}
