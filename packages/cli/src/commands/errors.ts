/** q errors: lists groups of errors by fingerprint, shows one, mutes and unmutes. */
import type { Command } from 'commander'
import { durationMs } from '@q/task'
import type { ErrorGroupPage } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { tellPageEnd } from '../frame/next-page.ts'
import type { Terminal } from '../frame/terminal.ts'
import { errorScreen, errorsTable } from '../screens/errors.ts'
import { errorGroupNotFound } from '../typed/not-found.ts'
import { wholeNumber } from '../typed/numbers.ts'

interface Options extends CommonOptions {
  readonly task?: string
  readonly muted?: true
  readonly limit: string
  readonly cursor?: string
}

export function errorsCommand(terminal: Terminal): Command {
  const errors = newCommand({
    name: 'errors',
    summary: 'list the errors of tasks, grouped by fingerprint; or show one group',
    examples: [
      ['q errors', 'what goes wrong, last seen first'],
      ['q errors 9f3a', 'one group: message, place, tasks, versions, hours, and its newest runs'],
      ['q retry --errors 9f3a', 'retries every run that ended with it'],
    ],
    json: '{ items: [group], next, lookedBackTo, exhausted }; with a fingerprint the group',
    route: 'GET /api/errors, GET /api/errors/{fingerprint}',
  })
    .argument('[fingerprint]', 'the fingerprint, or the beginning of it')
    .option('--task <task>', 'errors of this task')
    .option('--muted', 'include muted groups')
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (fingerprint: string | undefined, options: Options, command: Command) => {
      await operate(terminal, options, (context) =>
        fingerprint === undefined ? listErrors(context, options, command) : showError(context, fingerprint),
      )
    })
  errors.addCommand(muteCommand(terminal))
  errors.addCommand(unmuteCommand(terminal))
  return errors
}

async function listErrors(context: CommandContext, options: Options, command: Command): Promise<void> {
  const { store, answer } = context
  const { task, cursor } = options
  const page = await store.listErrorGroups({
    limit: wholeNumber('--limit', options.limit, 1, 500),
    ...(options.muted !== true && { muted: false }),
    ...(task !== undefined && { task }),
    ...(cursor !== undefined && { cursor }),
  })
  answer(page, (look) => (page.items.length === 0 ? emptyText(page, options) : errorsTable(look, page.items)))
  tellPageEnd(context, command, {
    shown: page.items.length,
    noun: 'group',
    order: 'last seen first',
    lookedBackTo: page.lookedBackTo,
    next: page.next,
  })
}

/** Distinguishes "no group matches" from "the search stopped before it found one". */
function emptyText({ exhausted }: ErrorGroupPage, { task, muted, cursor }: Options): string {
  if (!exhausted) return 'No error matches among those looked at; there are older ones.'
  if (cursor !== undefined) return 'No older error is on record.'
  const what = task === undefined ? 'No error' : `No error of ${task}`
  return muted === true ? `${what} is on record.` : `${what} is on record, or all are muted: q errors --muted`
}

async function showError({ store, answer, json }: CommandContext, fingerprint: string): Promise<void> {
  const group = await store.getErrorGroup(fingerprint)
  if (group === undefined) throw errorGroupNotFound(fingerprint)
  const runs = json ? [] : (await store.listTaskRuns({ fingerprint: group.fingerprint }, { limit: 5 })).runs
  answer(group, (look) => errorScreen(look, group, runs))
}

function muteCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'mute',
    summary: 'mute a group: it no longer needs attention for a while',
    examples: [
      ['q errors mute 9f3a --for 1d', 'for a day'],
      ['q errors unmute 9f3a', 'ends it'],
    ],
    json: '{ fingerprint, answer }',
    route: 'PUT /api/errors/{fingerprint}/mute',
  })
    .argument('<fingerprint>', 'the fingerprint, or the beginning of it')
    .option('--for <duration>', 'how long', '1d')
    .action(async (text: string, options: CommonOptions & { for: string }) => {
      const untilMs = durationMs(options.for)
      await operate(terminal, options, (context) => setMute(context, text, { untilMs, by: context.by }))
    })
}

function unmuteCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'unmute',
    summary: 'end the muting of a group',
    examples: [
      ['q errors unmute 9f3a', 'it needs attention again'],
      ['q errors --muted', 'lists include muted groups'],
    ],
    json: '{ fingerprint, answer }',
    route: 'DELETE /api/errors/{fingerprint}/mute',
  })
    .argument('<fingerprint>', 'the fingerprint, or the beginning of it')
    .action(async (text: string, options: CommonOptions) => {
      await operate(terminal, options, (context) => setMute(context, text, null))
    })
}

async function setMute(
  context: CommandContext,
  text: string,
  mute: { untilMs: number; by: string } | null,
): Promise<void> {
  const group = await context.store.getErrorGroup(text)
  if (group === undefined) throw errorGroupNotFound(text)
  const { fingerprint } = group
  const answer = await audited(context, {
    what: mute === null ? 'unmute-errors' : 'mute-errors',
    subject: `error ${fingerprint}`,
    detail: mute === null ? {} : { untilMs: mute.untilMs },
    act: () => context.store.muteErrorGroup(fingerprint, mute),
    answerOf: String,
  })
  context.answer({ fingerprint, answer }, () => `${fingerprint} is ${answer}.`)
}
