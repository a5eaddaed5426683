/** q nodes */
import type { Command } from 'commander'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { listEnd } from '../frame/list-end.ts'
import type { Terminal } from '../frame/terminal.ts'
import { nodesTable } from '../screens/nodes.ts'

export function nodesCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'nodes',
    summary: 'list the nodes: alive, draining or lost, their load and their drains',
    examples: [
      ['q nodes', 'every node that has not stopped'],
      ['q nodes --stopped --json', 'nodes that have left too, as data'],
    ],
    json: '{ items: [node] }',
    route: 'GET /api/nodes',
  })
    .option('--stopped', 'nodes that have left too')
    .action(async (options: CommonOptions & { stopped?: true }) => {
      await operate(terminal, options, async ({ store, answer, json }) => {
        const items = await store.listNodes({ stopped: options.stopped === true })
        answer({ items }, (look) =>
          items.length === 0 ? 'There is no node. Start one: q start' : nodesTable(look, items),
        )
        if (!json && items.length > 0)
          terminal.tell(listEnd({ shown: items.length, noun: 'node', order: 'oldest first' }))
      })
    })
}
