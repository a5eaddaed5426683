/** q actions: the audit log. */
import type { Command } from 'commander'
import type { Action } from '@q/store'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { tellPageEnd } from '../frame/next-page.ts'
import type { Terminal } from '../frame/terminal.ts'
import { wholeNumber } from '../typed/numbers.ts'
import { ago } from '../words/ages.ts'
import { table } from '../words/table.ts'

export function actionsCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'actions',
    summary: 'list the actions of people by this program, the page or the HTTP API, with their answers',
    examples: [
      ['q actions', 'newest first'],
      ['q actions --limit 500 --json', 'as data; verbs of the store and plain SQL leave no record'],
    ],
    json: '{ items: [{ id, at, by, via, what, subject, detail, answer }], next }',
    route: 'GET /api/actions',
  })
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (options: CommonOptions & { limit: string; cursor?: string }, command: Command) => {
      await operate(terminal, options, async (context) => {
        const { store, answer } = context
        const { cursor } = options
        const limit = wholeNumber('--limit', options.limit, 1, 500)
        const page = await store.listActions({ limit, ...(cursor !== undefined && { cursor }) })
        answer(page, (look) =>
          page.items.length === 0
            ? 'No action has been recorded yet.'
            : table<Action>(
                look,
                [
                  { heading: 'WHEN', cell: ({ at }) => ago(at), align: 'right' },
                  { heading: 'BY', cell: ({ by }) => by, shrink: 8 },
                  { heading: 'VIA', cell: ({ via }) => via, drop: 3 },
                  { heading: 'WHAT', cell: ({ what }) => what },
                  { heading: 'SUBJECT', cell: ({ subject }) => subject, shrink: 10 },
                  { heading: 'ANSWER', cell: ({ answer: answered }) => answered, shrink: 8 },
                  { heading: 'DETAIL', cell: ({ detail }) => detailText(detail), shrink: 12, drop: 2 },
                ],
                page.items,
              ),
        )
        tellPageEnd(context, command, {
          shown: page.items.length,
          noun: 'action',
          order: 'newest first',
          next: page.next,
        })
      })
    })
}

function detailText(detail: unknown): string {
  const text = detail === null || detail === undefined ? '' : JSON.stringify(detail)
  return text === '{}' ? '' : text
}
