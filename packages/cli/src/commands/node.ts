/** q node */
import type { Command } from 'commander'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { nodeScreen } from '../screens/node.ts'
import { nodeNamed } from '../typed/nodes.ts'

export function nodeCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'node',
    summary: 'show one node: its threads, the runs it holds, its heartbeats and their gaps',
    examples: [
      ['q node eu-2', 'by its name, or a part of the name that no other node has'],
      ['q node 8f3k --json', 'by the beginning of its id, as data'],
    ],
    json: '{ node, held: [run], samples, failures, gaps, recoveries }',
    route: 'GET /api/nodes/{id}',
  })
    .argument('<node>', 'name, beginning of the id, or unique part of the name')
    .action(async (text: string, options: CommonOptions) => {
      await operate(terminal, options, async ({ store, answer }) => {
        const { id } = await nodeNamed(store, text)
        const detail = await store.nodeDetail(id)
        if (detail !== undefined) answer(detail, (look) => nodeScreen(look, detail))
      })
    })
}
