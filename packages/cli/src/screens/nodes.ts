/** The nodes, one line each. Pure. */
import { externalPreset, type Node } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { countdown, exact, shortDuration } from '../words/ages.ts'
import { nodeStateText } from '../words/states.ts'
import { styled } from '../words/style.ts'
import { table, type Column } from '../words/table.ts'

export function nodesTable(look: Look, nodes: readonly Node[], now: Date = new Date()): string {
  const columns: readonly Column<Node>[] = [
    { heading: 'NODE', cell: ({ name }) => name, shrink: 10 },
    { heading: 'STATE', cell: (node) => stateOf(look, node) },
    { heading: 'BEAT/STALE', cell: beatOf, drop: 5 },
    { heading: 'SLOTS', cell: slotsOf, align: 'right' },
    { heading: 'CPU', cell: (node) => measured(node, `${Math.round(node.cpuPercent)} %`), align: 'right', drop: 4 },
    { heading: 'MEM', cell: (node) => measured(node, `${node.memoryMb} MB`), align: 'right', drop: 6 },
    { heading: 'HEALTH', cell: (node) => healthOf(look, node), drop: 3 },
    { heading: 'UP', cell: (node) => measured(node, shortDuration(node.uptimeS * 1_000)), align: 'right', drop: 7 },
    { heading: 'VERSION', cell: ({ version }) => version, drop: 8 },
    { heading: 'NOTE', cell: (node) => noteOf(node, now), shrink: 16, drop: 2 },
    { heading: 'ID', cell: ({ id }) => styled(look, 'dim', id), drop: 9 },
    { heading: 'SERVES', cell: servesText, drop: 10 },
  ]
  return table(look, columns, nodes)
}

export function isLiving({ state }: Pick<Node, 'state'>): boolean {
  return state === 'alive' || state === 'draining'
}

/** Whether its heartbeats say what it uses and did: an external worker may send none of it. */
export function sendsStats({ preset, memoryMb, uptimeS }: Node): boolean {
  return preset !== externalPreset || memoryMb > 0 || uptimeS > 0
}

const tasksShown = 8

/** Its queues, tasks and capabilities: what a run must match. */
export function servesText({ queues, tasks, capabilities }: Node): string {
  const more = tasks.length > tasksShown ? ` and ${tasks.length - tasksShown} more` : ''
  return [
    queues.length === 0 ? 'all queues' : queues.join(', '),
    tasks.length === 0 ? 'no task' : `${tasks.slice(0, tasksShown).join(', ')}${more}`,
    ...(capabilities.length === 0 ? [] : [`can ${capabilities.join(', ')}`]),
  ].join('; ')
}

function stateOf(look: Look, { state, drain }: Node): string {
  const left = state === 'draining' && drain !== null ? `${drain.runsLeft} left` : ''
  return nodeStateText(look, state, left)
}

/** The last report of a dead node does not show its present state. */
function measured(node: Node, text: string): string {
  return sendsStats(node) ? living(node, text) : '-'
}

function living(node: Node, text: string): string {
  return isLiving(node) ? text : '-'
}

function beatOf({ beatAgeMs, thresholds, state }: Node): string {
  if (beatAgeMs === null) return '-'
  const stale = exact(thresholds.replicaStaleMs)
  const isSeconds = stale.endsWith(' s') && beatAgeMs < 9_950 && state !== 'stale'
  return isSeconds ? `${(beatAgeMs / 1_000).toFixed(1)}/${stale}` : `${shortDuration(beatAgeMs)}/${stale}`
}

function slotsOf(node: Node): string {
  return `${living(node, String(node.slots - node.freeSlots))}/${node.slots}`
}

function healthOf(look: Look, node: Node): string {
  if (!isLiving(node)) return '-'
  if (node.health === 'degraded') return styled(look, 'yellow', 'degraded')
  return node.health === 'unhealthy' ? styled(look, 'red', 'unhealthy') : node.health
}

function noteOf({ drain, state, recovers, preset, endpoint, stoppedAt }: Node, now: Date): string {
  if (state === 'stopped')
    return stoppedAt === null ? '' : `stopped ${shortDuration(now.getTime() - stoppedAt.getTime())} ago`
  const parts = [
    ...(drain === null || state !== 'draining' ? [] : [drainNote(drain, now)]),
    ...(recovers || preset === externalPreset ? [] : ['recovery is off']),
    ...(endpoint === null || drain !== null ? [] : [endpoint]),
  ]
  return parts.join('; ')
}

function drainNote(drain: NonNullable<Node['drain']>, now: Date): string {
  const by = drain.by === null ? '' : `by ${drain.by}`
  if (drain.leavingAt !== null) return ['leaving', by].filter(Boolean).join(', ')
  if (drain.deadline === null) return ['no deadline', by].filter(Boolean).join(', ')
  const leftMs = drain.deadline.getTime() - now.getTime()
  const when = leftMs < 0 ? `deadline passed ${shortDuration(-leftMs)} ago` : `deadline in ${countdown(leftMs)}`
  return [when, by].filter(Boolean).join(', ')
}
