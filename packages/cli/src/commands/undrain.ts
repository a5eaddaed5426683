/** q undrain */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import type { UndrainAnswer } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { nodeNamed } from '../typed/nodes.ts'

const sentences: Readonly<Record<UndrainAnswer, readonly [sentence: string, exitCode: number]>> = {
  claiming: ['claims runs again', exitCodes.ok],
  'not-draining': ['was not draining', exitCodes.ok],
  leaving: ['has begun to leave, or its release cannot resume: the drain can no longer be undone', exitCodes.runFailed],
  'not-found': ['has stopped already', exitCodes.runFailed],
}
const lost = ['is lost: its drain was undone, but it claims nothing until it comes back', exitCodes.runFailed] as const

export function undrainCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'undrain',
    summary: 'undo a drain, unless the node has begun to leave (exit code 1)',
    examples: [
      ['q undrain eu-2', 'eu-2 claims runs again'],
      ['q undrain eu-2 --json', '{ "node": "eu-2", "answer": "claiming" }'],
    ],
    json: '{ node, answer: claiming | not-draining | leaving | not-found }',
    route: 'DELETE /api/nodes/{id}/drain',
  })
    .argument('<node>', 'name, beginning of the id, or unique part of the name')
    .action(async (text: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) => {
        const node = await nodeNamed(context.store, text)
        const answer = await audited(context, {
          what: 'undrain',
          subject: node.name,
          detail: { replicaId: node.id },
          act: () => context.store.undrainReplica(node.id),
          answerOf: String,
        })
        const isLost = answer === 'claiming' && node.state === 'stale'
        const [sentence, exitCode] = isLost ? lost : sentences[answer]
        context.answer({ node: node.name, answer }, () => `${node.name} ${sentence}.`)
        return exitCode
      })
    })
}
