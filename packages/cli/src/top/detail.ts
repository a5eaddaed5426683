/** The screen of one queue, node or run, as `q queues`, `q node` and `q show` print it. */
import { asRunId } from '@q/store'
import type { CommandContext } from '../frame/command.ts'
import type { Look } from '../frame/terminal.ts'
import { nodeScreen } from '../screens/node.ts'
import { queueScreen } from '../screens/queues.ts'
import { runScreen } from '../screens/run.ts'
import type { Pane } from './view.ts'

const logLinesShown = 5

export async function detailLines(
  { store }: CommandContext,
  look: Look,
  { pane, id }: { pane: Pane; id: string },
): Promise<string[]> {
  return [...(await textOf(store, look, pane, id)).split('\n'), '', 'esc: back']
}

async function textOf(store: CommandContext['store'], look: Look, pane: Pane, id: string): Promise<string> {
  if (pane === 'queues') {
    const queue = await store.getQueue(id)
    return queue === undefined ? `Queue ${id} is gone.` : queueScreen(look, queue)
  }
  if (pane === 'nodes') {
    const detail = await store.nodeDetail(id)
    return detail === undefined ? `Node ${id} is gone.` : nodeScreen(look, detail)
  }
  const run = asRunId(id)
  const detail = run === undefined ? undefined : await store.getTaskRun(run)
  if (run === undefined || detail === undefined) return `Run ${id} is gone.`
  const { lines } = await store.readTaskLogs(run, { last: logLinesShown })
  return runScreen(look, { detail, logs: lines })
}
