/** q recoveries */
import type { Command } from 'commander'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { tellPageEnd } from '../frame/next-page.ts'
import type { Terminal } from '../frame/terminal.ts'
import { recoveriesTable } from '../screens/recoveries.ts'
import { nodeNamed } from '../typed/nodes.ts'
import { wholeNumber } from '../typed/numbers.ts'

export interface RecoveryOptions extends CommonOptions {
  readonly node?: string
  readonly toReview?: true
  readonly limit: string
  readonly before?: string
}

export function recoveriesCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'recoveries',
    summary: 'list runs that were recovered from dead nodes, with the evidence',
    examples: [
      ['q recoveries --node eu-3', 'what became of the runs of eu-3'],
      ['q recoveries --to-review', 'runs that failed because their node died, and were not reviewed'],
    ],
    json: '{ items: [recovery], next }',
    route: 'GET /api/recoveries',
  })
    .option('--node <node>', 'runs that this node held')
    .option('--to-review', 'only recoveries that a person has to review')
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--before <id>', 'continue after the previous page')
    .action(async (options: RecoveryOptions, command: Command) => {
      await operate(terminal, options, (context) => printRecoveries(context, options, command))
    })
}

export async function printRecoveries(
  context: CommandContext,
  options: RecoveryOptions,
  command: Command,
): Promise<void> {
  const { store, answer } = context
  const node = options.node === undefined ? undefined : (await nodeNamed(store, options.node)).id
  const page = await store.listRecoveries({
    limit: wholeNumber('--limit', options.limit, 1, 500),
    toReview: options.toReview === true,
    ...(node !== undefined && { node }),
    ...(options.before !== undefined && { before: options.before }),
  })
  const { items } = page
  const of = options.node === undefined ? '' : ` of ${options.node}`
  const nothing = options.toReview === true ? `No recovery${of} needs a review.` : `No run${of} was recovered.`
  answer(page, (look) => (items.length === 0 ? nothing : recoveriesTable(look, items)))
  tellPageEnd(context, command, {
    shown: items.length,
    noun: 'recovery',
    order: 'newest first',
    next: page.next,
    option: '--before',
  })
}
