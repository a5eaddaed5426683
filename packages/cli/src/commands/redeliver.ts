/** q destinations redeliver: sends the reports again that a destination did not accept in time. */
import type { Command } from 'commander'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { destinationNotFound } from '../typed/not-found.ts'
import { shellWord } from '@q/server/client'
import { plural } from '../words/counts.ts'

const reportsMax = 1_000

export function redeliverCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'redeliver',
    summary: `send given-up reports of a destination again, oldest first, at most ${reportsMax}`,
    examples: [
      ['q destinations redeliver hook', 'after its receiver was repaired'],
      ['q deliveries redeliver 17', 'one report, also if it was delivered'],
    ],
    json: '{ destination, redelivered }',
    route: 'POST /api/destinations/{name}/redeliver',
  })
    .argument('<name>', 'name of the destination')
    .action(async (name: string, options: CommonOptions) => {
      await operate(terminal, options, async (frame) => {
        const { store } = frame
        if (!(await store.readDestinations()).some((one) => one.name === name)) throw destinationNotFound(name)
        const redelivered = await audited(frame, {
          what: 'redeliver-given-up',
          subject: `destination ${name}`,
          act: () => store.redeliverGivenUp({ destination: name, limit: reportsMax }),
          answerOf: (count) => `${count} reports`,
        })
        frame.answer({ destination: name, redelivered }, () => sentenceOf(name, redelivered))
      })
    })
}

function sentenceOf(name: string, redelivered: number): string {
  if (redelivered === 0) return `${name} has no given-up report that may be sent again.`
  const sent = `${plural(redelivered, 'report')} to ${name} ${redelivered === 1 ? 'is' : 'are'} sent again.`
  return redelivered < reportsMax ? sent : `${sent} If there are more: q destinations redeliver ${shellWord(name)}`
}
