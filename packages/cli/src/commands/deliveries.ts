/** q deliveries: lists reports to destinations, and sends them again. */
import type { Command } from 'commander'
import type { DeliveryView } from '@q/store'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { tellPageEnd } from '../frame/next-page.ts'
import { orderCommand } from '../frame/order.ts'
import type { Look, Terminal } from '../frame/terminal.ts'
import { deliveryNotFound } from '../typed/not-found.ts'
import { wholeNumber } from '../typed/numbers.ts'
import { ago } from '../words/ages.ts'
import { countText } from '../words/counts.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'

interface Options extends CommonOptions {
  readonly givenUp?: true
  readonly destination?: string
  readonly limit: string
  readonly cursor?: string
}

export function deliveriesCommand(terminal: Terminal): Command {
  const deliveries = newCommand({
    name: 'deliveries',
    summary: 'list reports to destinations: waiting, delivered or given up',
    examples: [
      ['q deliveries', 'newest first'],
      ['q deliveries --given-up', 'those that no retry follows, with the last error'],
      ['q deliveries redeliver 17', 'sends one again, under the same id'],
    ],
    json: '{ items: [{ id, destination, kind, runId, createdAt, attempts, dueAt, deliveredAt, lastError }], next }',
    route: 'GET /api/deliveries',
  })
    .option('--given-up', 'only deliveries that were given up')
    .option('--destination <name>', 'only deliveries to this destination')
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (options: Options, command: Command) => {
      await operate(terminal, options, async (context) => {
        const { store, answer } = context
        const { cursor, destination } = options
        const page = await store.listDeliveries({
          limit: wholeNumber('--limit', options.limit, 1, 500),
          givenUp: options.givenUp === true,
          ...(cursor !== undefined && { cursor }),
          ...(destination !== undefined && { destination }),
        })
        const to = destination === undefined ? '' : ` to ${destination}`
        const nothing = options.givenUp === true ? `No delivery${to} was given up.` : `There is no delivery${to}.`
        answer(page, (look) => (page.items.length === 0 ? nothing : deliveriesTable(look, page.items)))
        tellPageEnd(context, command, {
          shown: page.items.length,
          noun: 'delivery',
          order: 'newest first',
          next: page.next,
        })
      })
    })
  deliveries.addCommand(redeliverCommand(terminal))
  return deliveries
}

function redeliverCommand(terminal: Terminal): Command {
  return orderCommand(terminal, {
    texts: {
      name: 'redeliver',
      summary: 'send a report again under the same id, whether it was given up or delivered',
      examples: [
        ['q deliveries redeliver 17', 'refused if a newer report about the same run was delivered'],
        ['q deliveries --given-up', 'lists the ids'],
      ],
      json: '{ delivery, answer: due | superseded }',
      route: 'POST /api/deliveries/{id}/redeliver',
    },
    subject: 'delivery',
    audit: 'redeliver',
    argument: ['<id>', 'id of the delivery'],
    parse: deliveryId,
    act: ({ store }, id) => store.redeliver(id),
    sentences: {
      due: ['is sent again', true],
      superseded: [
        'was not sent again: a newer report about the same run or workflow was delivered or is being sent',
        false,
      ],
    },
    notFound: deliveryNotFound,
  })
}

function deliveryId(text: string): string {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw deliveryNotFound(text)
  return text
}

function deliveriesTable(look: Look, deliveries: readonly DeliveryView[]): string {
  return table<DeliveryView>(
    look,
    [
      { heading: 'ID', cell: ({ id }) => id, align: 'right' },
      { heading: 'DESTINATION', cell: ({ destination }) => destination, shrink: 11 },
      { heading: 'KIND', cell: ({ kind }) => kind, drop: 3 },
      { heading: 'RUN', cell: ({ runId }) => runId ?? '', align: 'right', drop: 4 },
      { heading: 'CREATED', cell: ({ createdAt }) => ago(createdAt), align: 'right' },
      { heading: 'ATTEMPTS', cell: ({ attempts }) => countText(attempts), align: 'right', drop: 2 },
      { heading: 'STATE', cell: (delivery) => stateOf(look, delivery) },
      { heading: 'LAST ERROR', cell: ({ lastError }) => lastError ?? '', shrink: 12, drop: 1 },
    ],
    deliveries,
  )
}

function stateOf(look: Look, { deliveredAt, dueAt }: DeliveryView): string {
  if (deliveredAt !== null) return styled(look, 'green', `delivered ${ago(deliveredAt)}`)
  return dueAt === null ? styled(look, 'red', 'given up') : `due ${ago(dueAt)}`
}
