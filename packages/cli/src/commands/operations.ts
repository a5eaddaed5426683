/** q operations: lists operations on many runs, shows one with its progress, and stops one. */
import type { Command } from 'commander'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { followed } from '../frame/bulk.ts'
import { tellPageEnd } from '../frame/next-page.ts'
import { orderCommand } from '../frame/order.ts'
import type { Terminal } from '../frame/terminal.ts'
import { operationsTable, operationText } from '../screens/operations.ts'
import { plainId } from '../typed/ids.ts'
import { operationNotFound } from '../typed/not-found.ts'
import { wholeNumber } from '../typed/numbers.ts'

interface Options extends CommonOptions {
  readonly limit: string
  readonly cursor?: string
  readonly follow?: true
}

export function operationsCommand(terminal: Terminal): Command {
  const operations = newCommand({
    name: 'operations',
    summary: 'list operations on many runs, or show one with its progress and answers',
    examples: [
      ['q operations', 'newest first'],
      ['q operations 7 --follow', 'one, until it has ended'],
      ['q operations stop 7', 'stops it after its current step'],
    ],
    json: '{ items: [operation], next }; with an id the operation',
    route: 'GET /api/operations, GET /api/operations/{id}',
  })
    .argument('[id]', 'id of the operation')
    .option('-f, --follow', 'with an id: wait until it has ended')
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (text: string | undefined, options: Options, command: Command) => {
      await operate(terminal, options, async (context) => {
        const { store, answer } = context
        if (text !== undefined) {
          const id = plainId(text, 'operation')
          const found = await store.getOperation(id)
          if (found === undefined) throw operationNotFound(id)
          const operation = options.follow === true ? await followed(context, found) : found
          return answer(operation, (look) => operationText(look, operation))
        }
        const { cursor } = options
        const limit = wholeNumber('--limit', options.limit, 1, 500)
        const page = await store.listOperations({ limit, ...(cursor !== undefined && { cursor }) })
        answer(page, (look) =>
          page.items.length === 0 ? 'No operation has been requested yet.' : operationsTable(look, page.items),
        )
        tellPageEnd(context, command, {
          shown: page.items.length,
          noun: 'operation',
          order: 'newest first',
          next: page.next,
        })
      })
    })
  operations.addCommand(
    orderCommand(terminal, {
      subject: 'operation',
      argument: ['<id>', 'id of the operation'],
      parse: (text) => plainId(text, 'operation'),
      notFound: operationNotFound,
      texts: {
        name: 'stop',
        summary: 'stop an operation after its current step; what it has changed stays changed',
        examples: [
          ['q operations stop 7', 'runs that it has not reached stay as they are'],
          ['q operations 7', 'shows how far it came'],
        ],
        json: '{ operation, answer: stopping | ended }',
        route: 'DELETE /api/operations/{id}',
      },
      audit: 'stop-operation',
      act: ({ store }, id) => store.stopOperation(id),
      sentences: { stopping: ['stops after its current step', true], ended: ['has ended already', false] },
    }),
  )
  return operations
}
