/** q destinations: lists external systems that receive reports, with the state of their reports, and changes them. */
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import type { DestinationInput } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { listEnd } from '../frame/list-end.ts'
import { orderCommand } from '../frame/order.ts'
import type { Terminal } from '../frame/terminal.ts'
import { destinationsTable } from '../screens/destinations.ts'
import { destinationNotFound } from '../typed/not-found.ts'
import { redeliverCommand } from './redeliver.ts'

export function destinationsCommand(terminal: Terminal): Command {
  const command = newCommand({
    name: 'destinations',
    summary: 'list the external systems that receive reports, and how many reports wait',
    examples: [
      ['q destinations', 'all of them'],
      ['q destinations add hook.json', 'creates or changes the one that the file describes'],
      ['q destinations test hook', 'sends a test report'],
    ],
    json: '{ items: [{ name, kind, reports, tasks, statuses, settings, waiting, givenUp, lastError, sender, … }] }',
    route: 'GET /api/destinations',
  }).action(async (options: CommonOptions) => {
    await operate(terminal, options, async ({ store, answer, json }) => {
      const items = await store.listDestinations()
      answer({ items }, (look) => (items.length === 0 ? 'There is no destination.' : destinationsTable(look, items)))
      if (!json && items.length > 0)
        terminal.tell(listEnd({ shown: items.length, noun: 'destination', order: 'by name' }))
    })
  })
  for (const part of [addCommand, testCommand, pauseCommand, resumeCommand, redeliverCommand, removeCommand])
    command.addCommand(part(terminal))
  return command
}

function addCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'add',
    summary: 'create or change a destination that a JSON file describes; - reads standard input',
    examples: [
      [
        'q destinations add hook.json',
        '{ "name": "hook", "kind": "webhook", "reports": ["status"], "settings": { … } }',
      ],
      ['q destinations add - < hook.json', 'the same from standard input'],
    ],
    json: '{ destination, answer: made | changed | unchanged }',
    route: 'PUT /api/destinations/{name}',
  })
    .argument('<file>', 'JSON file with one destination')
    .action(async (file: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) => {
        const input = await readDestination(file)
        const answer = await audited(context, {
          what: 'put-destination',
          subject: `destination ${input.name}`,
          detail: { kind: input.kind, reports: input.reports },
          act: () => context.store.putDestination(input),
          answerOf: String,
        })
        const sentences = { made: 'was created', changed: 'was changed', unchanged: 'is unchanged' } as const
        context.answer({ destination: input.name, answer }, () => `${input.name} ${sentences[answer]}.`)
      })
    })
}

async function readDestination(file: string): Promise<DestinationInput> {
  const { destinationProblems } = await import('@q/destinations')
  let given: unknown
  try {
    given = JSON.parse(await readFile(file === '-' ? '/dev/stdin' : file, 'utf8'))
  } catch (error) {
    throw wrong([error instanceof Error ? error.message : String(error)])
  }
  const problems = destinationProblems(given)
  if (problems.length > 0) throw wrong(problems)
  return given as DestinationInput
}

function wrong(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'DESTINATION_INVALID',
    what: 'The destination cannot be stored; nothing was changed.',
    why: problems.join(' '),
    fix: 'Correct what is named above; docs/reference/destinations.md describes the settings of each kind.',
  })
}

function testCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'test',
    summary: 'send a test report from this machine, which needs the secrets that the destination names',
    examples: [
      ['q destinations test hook', 'delivered, or why not'],
      ['HOOK_SECRET=… q destinations test hook', 'with its secret'],
    ],
    json: '{ destination, answer: delivered | failed | postponed | rejected, error }',
    route: 'POST /api/destinations/{name}/test',
  })
    .argument('<name>', 'name of the destination')
    .action(async (name: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) => {
        const destination = (await context.store.readDestinations()).find((one) => one.name === name)
        if (destination === undefined) throw destinationNotFound(name)
        const { testDestination } = await import('@q/destinations')
        const result = await audited(context, {
          what: 'test-destination',
          subject: `destination ${name}`,
          act: () => testDestination(destination, (variable) => terminal.env[variable]),
          answerOf: ({ kind }) => kind,
        })
        const error = 'error' in result ? result.error : null
        const sentence =
          error === null ? `${name} accepted a test report.` : `${name} did not accept a test report. ${error}`
        context.answer({ destination: name, answer: result.kind, error }, () => sentence)
        return result.kind === 'delivered' ? exitCodes.ok : exitCodes.runFailed
      })
    })
}

const subject = {
  subject: 'destination',
  argument: ['<name>', 'name of the destination'],
  parse: String,
  notFound: destinationNotFound,
} as const

function pauseCommand(terminal: Terminal): Command {
  return orderCommand(terminal, {
    ...subject,
    texts: {
      name: 'pause',
      summary: 'pause a destination: its reports are stored and not sent',
      examples: [
        ['q destinations pause hook', 'while its receiver is away'],
        ['q destinations resume hook', 'sends what was collected'],
      ],
      json: '{ destination, answer: paused }',
      route: 'POST /api/destinations/{name}/pause',
    },
    audit: 'pause-destination',
    act: ({ store, by }, name) => store.pauseDestination(name, { by }),
    sentences: { paused: ['is paused', true] },
  })
}

function resumeCommand(terminal: Terminal): Command {
  return orderCommand(terminal, {
    ...subject,
    texts: {
      name: 'resume',
      summary: 'resume a destination: it receives the stored reports',
      examples: [
        ['q destinations resume hook', 'ends the pause'],
        ['q destinations', 'shows how many reports wait'],
      ],
      json: '{ destination, answer: resumed }',
      route: 'POST /api/destinations/{name}/resume',
    },
    audit: 'resume-destination',
    act: ({ store }, name) => store.resumeDestination(name),
    sentences: { resumed: ['receives reports again', true] },
  })
}

function removeCommand(terminal: Terminal): Command {
  return orderCommand(terminal, {
    ...subject,
    texts: {
      name: 'rm',
      summary: 'remove a destination with its undelivered reports',
      examples: [
        ['q destinations rm hook', 'one of Q_DESTINATIONS_FILE returns with the next replica that starts'],
        ['q destinations pause hook', 'keeps it, and collects reports'],
      ],
      json: '{ destination, answer: removed }',
      route: 'DELETE /api/destinations/{name}',
    },
    audit: 'remove-destination',
    act: ({ store }, name) => store.removeDestination(name),
    sentences: { removed: ['was removed', true] },
  })
}
