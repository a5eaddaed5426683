/** q drain: orders a node to drain and, with --wait, follows it until it has left. */
import { Option, type Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { durationMs } from '@q/task'
import type { Node } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { followDrain } from '../frame/follow-drain.ts'
import type { Terminal } from '../frame/terminal.ts'
import { nodeNamed } from '../typed/nodes.ts'
import { shellWord } from '@q/server/client'
import { plural } from '../words/counts.ts'

interface Options extends CommonOptions {
  readonly deadline?: string
  readonly onDeadline: 'by-task' | 'release' | 'fail'
  readonly wait?: true
  readonly timeout?: string
}

export function drainCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'drain',
    summary: 'order a node to stop claiming, finish its runs and leave',
    examples: [
      ['q drain eu-2 --deadline 2m --wait', 'waits until it has left; Ctrl-C leaves it draining'],
      ['q drain eu-2 --deadline 30s --on-deadline release', 'after 30 s, its runs are released for other nodes'],
    ],
    json: '{ node, answer, deadlineMs, onDeadline } and, with --wait, { tookMs, finished, released, lost, held, left }',
    route: 'POST /api/nodes/{id}/drain',
  })
    .argument('<node>', 'name, beginning of the id, or unique part of the name')
    .option('--deadline <duration>', 'stop the runs that have not finished by then; without it the node waits for them')
    .addOption(
      new Option('--on-deadline <what>', 'what happens to stopped runs: as their onCrash says, released, or failed')
        .choices(['by-task', 'release', 'fail'])
        .default('by-task'),
    )
    .option('--wait', 'wait until the node has left (exit code 7 if it left runs behind)')
    .option('--timeout <duration>', 'with --wait: give up waiting (exit code 5); the node keeps draining')
    .action(async (text: string, options: Options) => {
      await operate(terminal, options, async (context) => {
        const order = orderOf(options)
        const timeoutMs = options.timeout === undefined ? undefined : durationMs(options.timeout)
        const node = await nodeNamed(context.store, text)
        const answer = await audited(context, {
          what: 'drain',
          subject: node.name,
          detail: { replicaId: node.id, ...order },
          act: () => context.store.drainReplica(node.id, { by: context.by, ...order }),
          answerOf: String,
        })
        const document = { node: node.name, answer, deadlineMs: order.deadlineMs ?? null, onDeadline: order.onDeadline }
        if (answer === 'not-found') return gone(context, node, document)
        if (options.wait === true)
          return followDrain(context, { node, document, ...(timeoutMs !== undefined && { timeoutMs }) })
        context.answer(document, () => orderedText(node, order.deadlineMs))
        return exitCodes.ok
      })
    })
}

interface Order {
  readonly deadlineMs?: number
  readonly onDeadline: Options['onDeadline']
}

function orderOf({ deadline, onDeadline }: Options): Order {
  return { onDeadline, ...(deadline === undefined ? {} : { deadlineMs: durationMs(deadline) }) }
}

function gone(context: CommandContext, node: Node, document: object): number {
  context.answer(document, () => `${node.name} has stopped already.`)
  return exitCodes.ok
}

function orderedText(node: Node, deadlineMs: number | undefined): string {
  const undo = `Undo: q undrain ${shellWord(node.name)}`
  if (node.state === 'stale') return `${node.name} is lost: it drains only if it comes back. ${undo}`
  const runs = node.slots - node.freeSlots
  const until = deadlineMs === undefined ? 'no deadline' : `deadline in ${Math.round(deadlineMs / 1_000)} s`
  return `${node.name}: no new runs; ${plural(runs, 'run')} left, ${until}. Follow: q drain ${shellWord(node.name)} --wait, or q nodes. ${undo}`
}
