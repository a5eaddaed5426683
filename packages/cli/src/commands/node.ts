/** q node */
import type { Command } from 'commander'
import { ExplainedError } from '@q/schema'
import type { HeartbeatData, Store } from '@q/store'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { nodeScreen } from '../screens/node.ts'
import { nodeNamed } from '../typed/nodes.ts'

interface NodeOptions extends CommonOptions {
  readonly heartbeatJson?: true
}

export function nodeCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'node',
    summary: 'show one node: its threads, the runs it holds, its heartbeats and their gaps',
    examples: [
      ['q node eu-2', 'by its name, or a part of the name that no other node has'],
      ['q node 8f3k --json', 'by the beginning of its id, as data'],
      ['q node eu-2 --heartbeat-json', 'its last heartbeat, as destinations get it'],
    ],
    json: '{ node, held: [run], samples, failures, gaps, recoveries }',
    route: 'GET /api/nodes/{id}',
  })
    .argument('<node>', 'name, beginning of the id, or unique part of the name')
    .option('--heartbeat-json', 'print its last heartbeat as the message that destinations get')
    .action(async (text: string, { heartbeatJson, ...options }: NodeOptions) => {
      await operate(terminal, options, async ({ store, answer }) => {
        const { id } = await nodeNamed(store, text)
        if (heartbeatJson === true) return terminal.printData(JSON.stringify(await lastHeartbeat(store, id)))
        const detail = await store.nodeDetail(id)
        if (detail !== undefined) answer(detail, (look) => nodeScreen(look, detail))
      })
    })
}

async function lastHeartbeat(store: Store, id: string): Promise<HeartbeatData> {
  const heartbeat = await store.nodeHeartbeat(id)
  if (heartbeat !== undefined) return heartbeat
  throw new ExplainedError({
    code: 'HEARTBEAT_NOT_FOUND',
    what: `No heartbeat of node ${id} is kept.`,
    why: 'The node has stopped, or died so long ago that its last heartbeat was deleted.',
    fix: 'List the nodes that are alive: q nodes.',
  })
}
