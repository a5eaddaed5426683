/** A nested command with one action on one named subject: `q schedules pause <name>`. */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { audited } from './audited.ts'
import { newCommand, operate, type CommandTexts, type CommonOptions, type CommandContext } from './command.ts'
import type { Terminal } from './terminal.ts'

export interface Order<Id extends string, Answer extends string> {
  readonly texts: CommandTexts
  /** The kind of the subject: `schedule`. Also the name of its member in the answer. */
  readonly subject: string
  /** The name of the action in the audit log. */
  readonly audit: string
  readonly argument: readonly [name: string, meaning: string]
  readonly parse: (text: string) => Id
  readonly act: (context: CommandContext, id: NoInfer<Id>) => Promise<Answer>
  /** The sentence for each answer, and whether it counts as success. */
  readonly sentences: Readonly<Record<Exclude<Answer, 'not-found'>, readonly [sentence: string, isDone: boolean]>>
  readonly notFound: (id: string) => Error
}

export function orderCommand<Id extends string, Answer extends string>(
  terminal: Terminal,
  order: Order<Id, Answer>,
): Command {
  return newCommand(order.texts)
    .argument(...order.argument)
    .action(async (text: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) => {
        const id = order.parse(text)
        const answer = await audited(context, {
          what: order.audit,
          subject: `${order.subject} ${id}`,
          act: () => order.act(context, id),
          answerOf: String,
        })
        if (answer === 'not-found') throw order.notFound(id)
        const [sentence, isDone] = order.sentences[answer as Exclude<Answer, 'not-found'>]
        context.answer({ [order.subject]: id, answer }, () => `${nameOf(order.subject, id)} ${sentence}.`)
        return isDone ? exitCodes.ok : exitCodes.runFailed
      })
    })
}

/** A number alone does not say what it names: `Workflow 412`. */
function nameOf(subject: string, id: string): string {
  return /^\d+$/.test(id) ? `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${id}` : id
}
