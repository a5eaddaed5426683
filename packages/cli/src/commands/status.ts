/** q status: nodes and their health, queues and their backlog, runs by state, and tasks. */
import { styleText } from 'node:util'
import { Command } from 'commander'
import { exitCodes } from '@q/runner/problem'
import { oneLine } from '@q/schema'
import type { Node, QueueBacklog, Store } from '@q/store'
import { print, session, withStore } from '../session.ts'
import { table, type Cell } from '../table.ts'

export function statusCommand(): Command {
  return new Command('status')
    .description('nodes, queues, runs by state, and tasks')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      await session(options, async ({ url, description }) => {
        const facts = await withStore(url, look)
        if (options.json === true) print(JSON.stringify(facts))
        else console.log(statusPage(description, facts))
        return exitCodes.ok
      })
    })
}

type Facts = Awaited<ReturnType<typeof look>>

async function look(store: Store) {
  const nodes = await store.listNodes()
  const living = nodes.filter(isLiving)
  const tasks = await store.publishedTasks()
  return {
    nodes,
    queues: await store.queueBacklog(),
    runs: await store.countRunsByState(),
    /** `nodes`: how many living nodes know the task. */
    tasks: tasks.map((task) => ({ ...task, nodes: living.filter((node) => node.tasks.includes(task.name)).length })),
  }
}

function isLiving({ state }: Node): boolean {
  return state === 'alive' || state === 'draining'
}

function statusPage(description: string, { nodes, queues, runs, tasks }: Facts): string {
  return [
    `${styleText('bold', 'database')}  ${description}`,
    nodes.length === 0 ? 'No node is there: start one with `q start`.' : nodeTable(nodes),
    ...(queues.length === 0 ? [] : [queueTable(queues)]),
    runs.length === 0
      ? 'No run has been enqueued yet.'
      : table(
          ['RUNS', 'COUNT'],
          runs.map(({ status, runs: count }) => [status, String(count)]),
        ),
    tasks.length === 0 ? 'No task has been published yet.' : taskTable(tasks),
  ].join('\n\n')
}

/** Shows health and load of living nodes only: those of a dead node are out of date. */
function nodeTable(nodes: readonly Node[]): string {
  const rows = nodes.map((node) => [
    stateText(node.state),
    node.name,
    isLiving(node) ? healthText(node) : '-',
    `${isLiving(node) ? node.activeRuns : '-'}/${node.slots}`,
    String(node.completed),
    String(node.failed),
    node.beatAgeMs === null ? 'none' : `${(node.beatAgeMs / 1000).toFixed(1)} s ago`,
    String(node.pid),
    node.id,
    node.version,
  ])
  return table(['NODE', 'NAME', 'HEALTH', 'BUSY', 'DONE', 'FAILED', 'LAST BEAT', 'PID', 'ID', 'VERSION'], rows)
}

function queueTable(queues: readonly QueueBacklog[]): string {
  const rows = queues.map(({ queue, available, claimed, running, waiting, paused, pausedBy }) => [
    queue,
    paused ? ({ text: pausedBy === null ? 'paused' : `paused by ${pausedBy}`, style: 'yellow' } as const) : 'open',
    String(available),
    String(claimed + running),
    waitingText(waiting),
  ])
  return table(['QUEUE', 'STATE', 'AVAILABLE', 'HELD', 'WAITING'], rows)
}

/** How many runs wait, and what for. */
function waitingText(waiting: QueueBacklog['waiting']): string {
  const gates = Object.entries(waiting).filter(([, runs]) => runs > 0)
  const sum = gates.reduce((before, [, runs]) => before + runs, 0)
  return gates.length === 0 ? '0' : `${sum} (${gates.map(([gate, runs]) => `${gate} ${runs}`).join(', ')})`
}

function taskTable(tasks: Facts['tasks']): string {
  const known = tasks.filter((task) => task.nodes > 0)
  const unknown = tasks.filter((task) => task.nodes === 0).map((task) => task.name)
  const rows = known.map((task) => [task.name, task.queue, String(task.nodes)])
  const missing = `No living node knows these published tasks: ${oneLine(unknown.join(', '))}`
  return [
    ...(known.length === 0 ? [] : [table(['TASK', 'QUEUE', 'NODES'], rows)]),
    ...(unknown.length === 0 ? [] : [styleText('yellow', missing)]),
  ].join('\n')
}

function stateText(state: Node['state']): Cell {
  return { text: state, style: state === 'alive' ? 'green' : state === 'draining' ? 'yellow' : 'red' }
}

function healthText({ health, cpuPercent, memoryMb }: Node): Cell {
  if (health === 'healthy' || health === 'unknown') return health
  const text = `${health} (CPU ${Math.round(cpuPercent)} %, ${memoryMb} MB)`
  return { text, style: health === 'degraded' ? 'yellow' : 'red' }
}
