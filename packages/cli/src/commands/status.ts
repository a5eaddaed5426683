/** q status: who is there, what they do, what waits. */
import { styleText } from 'node:util'
import { Command } from 'commander'
import { exitCodes } from '@q/runner/problem'
import type { Node, Store } from '@q/store'
import { session, withStore } from '../session.ts'
import { table } from '../table.ts'

export function statusCommand(): Command {
  return new Command('status')
    .description('nodes, runs by state, and tasks')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      await session(options, async ({ url, description }) => {
        const facts = await withStore(url, look)
        console.log(options.json === true ? JSON.stringify(facts) : page(description, facts))
        return exitCodes.ok
      })
    })
}

async function look(store: Store) {
  return { nodes: await store.listNodes(), runs: await store.countRunsByState(), tasks: await store.publishedTasks() }
}

function page(description: string, { nodes, runs, tasks }: Awaited<ReturnType<typeof look>>): string {
  const nodeRows = nodes.map((node) => [
    coloured(node.state),
    node.name,
    `${node.activeRuns}/${node.slots}`,
    String(node.completed),
    String(node.failed),
    node.beatAgeMs === null ? 'none' : `${(node.beatAgeMs / 1000).toFixed(1)} s ago`,
    String(node.pid),
    node.id,
    node.version,
  ])
  return [
    `${styleText('bold', 'database')}  ${description}`,
    '',
    nodes.length === 0
      ? 'No node is there: start one with `q start`.'
      : table(['NODE', 'NAME', 'BUSY', 'DONE', 'FAILED', 'LAST BEAT', 'PID', 'ID', 'VERSION'], nodeRows),
    '',
    runs.length === 0
      ? 'No run has been enqueued yet.'
      : table(
          ['RUNS', 'COUNT'],
          runs.map(({ status, runs: count }) => [status, String(count)]),
        ),
    '',
    tasks.length === 0
      ? 'No task has been published yet.'
      : table(
          ['TASK', 'QUEUE'],
          tasks.map((task) => [task.name, task.queue]),
        ),
  ].join('\n')
}

function coloured(state: Node['state']): string {
  return styleText(state === 'alive' ? 'green' : state === 'draining' ? 'yellow' : 'red', state)
}
