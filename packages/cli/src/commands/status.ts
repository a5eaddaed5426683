/** q status: shows the whole cluster on one screen; --watch repeats it. */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { patiently } from '../frame/patience.ts'
import { repeat } from '../frame/repeat.ts'
import type { Terminal } from '../frame/terminal.ts'
import { statusScreen, type StatusFacts } from '../screens/status.ts'
import { isLiving } from '../screens/nodes.ts'

interface Options extends CommonOptions {
  readonly watch?: true
  readonly exact?: true
}

const watchEveryMs = 2_000

export function statusCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'status',
    summary: 'what runs, what waits, and what needs you',
    examples: [
      ['q status', 'one screen; reads a bounded number of rows, however many there are'],
      ['q status --watch', 'again every two seconds, until Ctrl-C'],
      ['q status --exact --json', 'with exact counts by state, which read the whole table'],
    ],
    json: '{ database, overview, queues, nodes, tasks, attention } and, with --exact, runs: [{ status, runs }]; with --watch NDJSON',
    route: 'GET /api/overview, GET /api/queues, GET /api/attention',
  })
    .option('--watch', 'repeat every two seconds')
    .option('--exact', 'count all runs by state: reads the whole table')
    .action(async (options: Options) => {
      await operate(terminal, options, async (context) => {
        if (options.watch !== true) {
          const facts = await patiently(
            terminal,
            () => 'reading',
            () => look(context, options),
          )
          context.answer(facts, (fit) => statusScreen(fit, facts))
          return exitCodes.ok
        }
        await repeat(watchEveryMs, async () => {
          const facts = await look(context, options)
          if (context.json) context.answer(facts, () => '')
          else terminal.redraw(statusScreen({ ...context.look, columns: terminal.columns }, facts))
          return 'again'
        })
        return exitCodes.ok
      })
    })
}

async function look(
  { store, description }: CommandContext,
  { exact }: Options,
): Promise<StatusFacts & Readonly<Record<string, unknown>>> {
  const nodes = await store.listNodes()
  const living = nodes.filter(isLiving)
  const tasks = await store.publishedTasks()
  const { version } = await store.inspectServer()
  return {
    database: { place: description, version },
    overview: await store.overview(),
    queues: await store.listQueues(),
    nodes,
    /** `nodes`: the number of live nodes that know the task. */
    tasks: tasks.map((task) => ({ ...task, nodes: living.filter((node) => node.tasks.includes(task.name)).length })),
    attention: await store.attention(),
    ...(exact === true ? { runs: await store.countRunsByState() } : {}),
  }
}
