/** q review: lists runs that failed because their node died, and lets a person accept the loss or retry them. */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import type { RunId } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { changeEach, nothingChanged, type DryRunOption } from '../frame/each-run.ts'
import { bulkRunsCommand } from '../frame/runs-command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runIds } from '../typed/ids.ts'
import { plural } from '../words/counts.ts'
import { printRecoveries, type RecoveryOptions } from './recoveries.ts'
import { retryChange } from './retry.ts'

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
    .action(async (options: RecoveryOptions, command: Command) => {
      await operate(terminal, options, (context) => printRecoveries(context, { ...options, toReview: true }, command))
    })
  review.addCommand(acceptCommand(terminal))
  review.addCommand(retryReviewedCommand(terminal))
  return review
}

function acceptCommand(terminal: Terminal): Command {
  return bulkRunsCommand(terminal, {
    texts: {
      name: 'accept',
      summary: 'mark recoveries as reviewed; the runs stay as they are',
      examples: [
        ['q review accept 9123 9124', 'two runs'],
        ['q review accept --node eu-3 --yes', 'everything that this node lost, without a question'],
      ],
      json: '{ reviewed }; by filter the operation; with --dry-run { dryRun, reviewed } or { dryRun, match, samples, exhausted, lookedBackTo, next }',
      route: 'POST /api/recoveries/review',
    },
    path: 'review accept',
    kind: 'review',
    changed: 'accepted',
    byId: accept,
  })
}

async function accept(context: CommandContext, ids: readonly RunId[], { dryRun }: DryRunOption): Promise<number> {
  if (dryRun === true) {
    const reviewed = await context.store.rehearseReview(ids)
    context.answer({ dryRun, reviewed }, () => `${acceptableText(reviewed, ids.length)} ${nothingChanged}`)
    return exitCodes.ok
  }
  const reviewed = await audited(context, {
    what: 'review',
    subject: ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`,
    detail: { ids: ids.slice(0, 100) },
    act: () => context.store.reviewRecoveries({ runIds: ids, by: context.by }),
    answerOf: (count) => `reviewed ${count}`,
  })
  context.answer({ reviewed }, () => acceptedText(reviewed, ids.length))
  return exitCodes.ok
}

function retryReviewedCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'retry',
    summary: 'retry runs, which marks their recoveries as reviewed',
    examples: [
      ['q review retry 9123', 'one run'],
      ['q review retry 9123 9124 --json', 'two runs, the answers as data'],
    ],
    json: '{ items: [{ id, answer }] }; with --dry-run { dryRun, items }',
    route: 'POST /api/runs/{id}/retry',
  })
    .argument('<runs...>', 'ids of runs')
    .option('--dry-run', 'change nothing: say what would be done')
    .action(async (runs: string[], options: CommonOptions & DryRunOption) => {
      await operate(terminal, options, (context) => changeEach(context, runIds(runs), retryChange, options))
    })
}

function acceptableText(reviewed: number, asked: number): string {
  if (reviewed === 0) return `Nothing would be accepted: ${noneWaits(asked)}`
  return `${plural(reviewed, 'recovery', 'recoveries')} would be accepted.`
}

function acceptedText(reviewed: number, asked: number): string {
  if (reviewed === 0) return `Nothing was accepted: ${noneWaits(asked)}`
  // A run may have been recovered more than once.
  const accepted = `${plural(reviewed, 'recovery', 'recoveries')} accepted`
  return reviewed >= asked ? `${accepted}.` : `${accepted}; the other runs have none without a review.`
}

function noneWaits(asked: number): string {
  return `no recovery of ${asked === 1 ? 'this run' : 'these runs'} is without a review.`
}
