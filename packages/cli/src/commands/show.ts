/** q show: one run with everything. */
import type { Command } from 'commander'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runScreen } from '../screens/run.ts'
import { runId } from '../typed/ids.ts'
import { runNotFound } from '../typed/not-found.ts'

const logLinesShown = 5

export function showCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'show',
    summary: 'show one run: its timeline, attempts, last log lines, error, payload and result',
    examples: [
      ['q show 9123', 'by its id; #9123 and the address on the page work too'],
      ['q show 9123 --json', 'everything, as data; payloadText keeps every digit of large numbers'],
    ],
    json: '{ run, attempts, recoveries, beats, events, timeline, payloadText, resultText, checkpointText, replicaName, parent, children, again, scheduleTick, why, waitMs, durationMs }',
    route: 'GET /api/runs/{id}',
  })
    .argument('<run>', 'id of the run')
    .action(async (text: string, options: CommonOptions) => {
      await operate(terminal, options, async ({ store, answer, json }) => {
        const id = runId(text)
        const detail = await store.getTaskRun(id)
        if (detail === undefined) throw runNotFound(id)
        const { lines } = json ? { lines: [] } : await store.readTaskLogs(id, { last: logLinesShown })
        answer(detail, (look) => runScreen(look, { detail, logs: lines }))
      })
    })
}
