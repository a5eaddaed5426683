/** q show: shows one run with all its details. */
import type { Command } from 'commander'
import type { RunDetail, RunId } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runScreen } from '../screens/run.ts'
import { parseRunId } from '../typed/ids.ts'
import { runNotFound } from '../typed/not-found.ts'

interface Options extends CommonOptions {
  readonly reveal?: true
}

const logLinesShown = 5

export function showCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'show',
    summary: 'show one run: its timeline, attempts, last log lines, error, payload and result',
    examples: [
      ['q show 9123', 'by its id; #9123 and the address on the page work too'],
      ['q show 9123 --json', 'everything, as data; payloadText keeps every digit of large numbers'],
      ['q show 9123 --reveal', 'with the values that are hidden because they are named like a secret'],
    ],
    json: '{ run, attempts, recoveries, beats, events, timeline, payloadText, resultText, checkpointText, replicaName, parent, children, again, scheduleTick, why, waitMs, durationMs }',
    route: 'GET /api/runs/{id}',
  })
    .argument('<run>', 'id of the run')
    .option('--reveal', 'show hidden values of the payload, the result and the checkpoint; the audit records it')
    .action(async (text: string, options: Options) => {
      await operate(terminal, options, async (context) => {
        const { store, answer, json } = context
        const id = parseRunId(text)
        const detail = options.reveal === true ? await revealedRun(context, id) : await store.getTaskRun(id)
        if (detail === undefined) throw runNotFound(id)
        const { lines } = json ? { lines: [] } : await store.readTaskLogs(id, { last: logLinesShown })
        answer(detail, (look) => runScreen(look, { detail, logs: lines }))
      })
    })
}

/** Undefined: there is no such run. */
export async function revealedRun(context: CommandContext, id: RunId): Promise<RunDetail | undefined> {
  return audited(context, {
    what: 'reveal',
    subject: `run ${id}`,
    act: () => context.revealing.getTaskRun(id),
    answerOf: (detail) => (detail === undefined ? 'not-found' : 'revealed'),
  })
}
