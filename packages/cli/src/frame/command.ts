/**
 * The context of a command that operates a cluster: its help with examples, `--json` and `--fields`, the database, and the
 * answer, which is one document or one text.
 */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { hidingReads, secretsOf } from '@q/server/secrets'
import type { Store } from '@q/store'
import { answerText } from './answer.ts'
import { patientStore } from './patience.ts'
import { personOf } from './person.ts'
import { runWithDatabase, withStore } from './run-with-database.ts'
import type { Look, Terminal } from './terminal.ts'

export interface CommandTexts {
  readonly name: string
  readonly summary: string
  /** At least two examples: a command line and its description. */
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** The document that `--json` prints. */
  readonly json: string
  /** The route of the HTTP API that answers the same. */
  readonly route?: string
}

export interface CommonOptions {
  readonly json?: true
  readonly fields?: string
  readonly wide?: true
}

export interface CommandContext {
  /** Values of payloads, results and logs that are named like a secret read `[hidden]`, as on the page. */
  readonly store: Store
  /** The same with the secrets, for a person who asks for them: the audit records it. */
  readonly revealing: Store
  readonly url: string
  /** The database, for people. */
  readonly description: string
  readonly terminal: Terminal
  /** The layout of texts: the terminal's width, or more with `--wide`. */
  readonly look: Look
  /** The person who runs the command, as records name them. */
  readonly by: string
  /** Whether the answer is a JSON document. */
  readonly json: boolean
  /** Prints the answer: the document with `--json`, else the text. */
  answer(document: object, text: (look: Look) => string): void
}

export function newCommand(texts: CommandTexts): Command {
  return newTextCommand(texts).option('--wide', 'do not cut tables to the width of the terminal')
}

/** A command whose answer is no table. */
export function newTextCommand({ name, summary, examples, json, route }: CommandTexts): Command {
  const width = Math.max(...examples.map(([line]) => line.length))
  const lines = examples.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`)
  const documents = [`JSON: ${json}`, ...(route === undefined ? [] : [`HTTP: ${route}`])]
  return new Command(name)
    .description(summary)
    .option('--json', 'print one JSON document')
    .option('--fields <names>', 'with --json: only these members, separated by commas')
    .addHelpText('after', ['\nExamples:', ...lines, '', ...documents].join('\n'))
}

/** Runs `work` with the store; its exit code is 0 unless it returns another. */
export async function operate(
  terminal: Terminal,
  options: CommonOptions,
  work: (context: CommandContext) => Promise<number | void>,
): Promise<void> {
  const look: Look = options.wide === true ? { ...lookOf(terminal), columns: 0 } : lookOf(terminal)
  await runWithDatabase(terminal, options, ({ url, description }) =>
    withStore(url, async (store) => {
      const revealing = patientStore(terminal, store)
      const context: CommandContext = {
        store: hidingReads(revealing, secretsOf(terminal.env)),
        revealing,
        url,
        description,
        terminal,
        look,
        by: personOf(terminal.env),
        json: options.json === true,
        answer(document, text) {
          if (options.json === true) terminal.printData(answerText(document, options.fields))
          else terminal.print(text(look))
        },
      }
      return (await work(context)) ?? exitCodes.ok
    }),
  )
}

function lookOf({ columns, colour, ascii }: Terminal): Look {
  return { columns, colour, ascii }
}
