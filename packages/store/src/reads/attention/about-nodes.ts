/** Attention items about nodes, from the facts that they report. Pure. */
import { externalPreset, type Node } from '../nodes/node-view.ts'
import { counted, inWords } from '../words.ts'
import { argument, pagePath, subjectsMax, type Attention } from './attention-item.ts'

/** How far a drain may exceed its deadline, because stopping runs takes time. */
const overdueMs = 30_000
/** A run that is being stopped for longer is reported. */
const stoppingMs = 30_000

export function aboutNodes(nodes: readonly Node[], now: Date, hasWork: boolean): Attention[] {
  const claiming = nodes.filter((node) => node.state === 'alive')
  const living = nodes.filter((node) => node.state === 'alive' || node.state === 'draining')
  const runners = living.filter((node) => node.preset !== externalPreset)
  return [
    ...(claiming.length === 0 ? [noNode(living, hasWork)] : []),
    ...living.flatMap((node) => overdueDrain(node, now)).slice(0, subjectsMax),
    ...recoveryOff(runners),
    ...living.flatMap(stoppingSlots).slice(0, subjectsMax),
    ...mixedVersions(runners),
    ...living.flatMap(poorHealth).slice(0, subjectsMax),
  ]
}

function noNode(living: readonly Node[], hasWork: boolean): Attention {
  const draining = living.length > 0
  return {
    kind: 'no-node',
    level: hasWork ? 'bad' : 'warn',
    subject: 'nodes',
    sentence: draining ? 'Every live node is draining: nothing is claimed.' : 'No node is alive: nothing is executed.',
    detail: hasWork ? 'Runs are waiting.' : null,
    command: draining ? `q undrain ${argument(living[0]?.name ?? '')}` : 'q start',
    page: pagePath('nodes'),
    facts: { draining: living.length },
  }
}

function about(node: Node): Pick<Attention, 'subject' | 'command' | 'page'> {
  return { subject: node.name, command: `q node ${argument(node.name)}`, page: pagePath('nodes', node.id) }
}

function overdueDrain(node: Node, now: Date): Attention[] {
  const { drain } = node
  const lateMs = drain?.deadline == null ? 0 : now.getTime() - drain.deadline.getTime()
  if (drain == null || lateMs < overdueMs) return []
  return [
    {
      kind: 'drain-overdue',
      level: 'warn',
      ...about(node),
      sentence: `${node.name} should have finished draining ${inWords(lateMs)} ago and still holds ${counted({ count: drain.runsLeft, atLeast: false }, 'run')}.`,
      detail: drain.by === null ? null : `Drained by ${drain.by}.`,
      facts: { lateMs, runsLeft: drain.runsLeft },
    },
  ]
}

function recoveryOff(living: readonly Node[]): Attention[] {
  const off = living.filter((node) => !node.recovers)
  if (off.length === 0) return []
  const all = off.length === living.length
  return [
    {
      kind: 'recovery-off',
      level: all ? 'bad' : 'note',
      subject: off
        .map((node) => node.name)
        .slice(0, subjectsMax)
        .join(', '),
      sentence: all
        ? 'No live node recovers the runs of dead nodes: recovery is switched off.'
        : `Recovery is switched off on ${off.length} of ${living.length} live nodes.`,
      detail: 'Runs of a node that dies stay as they are until a node with recovery looks.',
      command: all ? 'q recover --dry-run' : 'q doctor --only liveness',
      page: pagePath('nodes'),
      facts: { off: off.length, living: living.length },
    },
  ]
}

function stoppingSlots(node: Node): Attention[] {
  const stuck = node.threads.filter(({ state, silentMs }) => state === 'stopping' && (silentMs ?? 0) > stoppingMs)
  const [first] = stuck
  if (first === undefined) return []
  const silentMs = Math.max(...stuck.map((slot) => slot.silentMs ?? 0))
  return [
    {
      kind: 'slots-stopping',
      level: 'warn',
      ...about(node),
      sentence: `${node.name} cannot stop ${first.task ?? 'a run'}${stuck.length > 1 ? ` and ${stuck.length - 1} more` : ''}: the code has been silent for ${inWords(silentMs)}.`,
      detail: 'Code in a native call ends only when the call does; isolation: process can be killed.',
      command: first.runId === null ? `q node ${argument(node.name)}` : `q show ${first.runId}`,
      facts: { slots: stuck.length, silentMs, runId: first.runId },
    },
  ]
}

function mixedVersions(living: readonly Node[]): Attention[] {
  const versions = [...new Set(living.map((node) => node.version))].toSorted()
  if (versions.length < 2) return []
  return [
    {
      kind: 'versions-mixed',
      level: 'note',
      subject: versions.join(', '),
      sentence: `Live nodes run ${versions.length} versions: ${versions.join(', ')}.`,
      detail: 'Usual during a deployment.',
      command: 'q nodes',
      page: pagePath('nodes'),
      facts: { versions: versions.length },
    },
  ]
}

function poorHealth(node: Node): Attention[] {
  if (node.health !== 'degraded' && node.health !== 'unhealthy') return []
  const does = node.health === 'unhealthy' ? 'claims nothing' : 'fills half of its slots'
  return [
    {
      kind: 'health-degraded',
      level: node.health === 'unhealthy' ? 'warn' : 'note',
      ...about(node),
      sentence: `${node.name} is ${node.health} and ${does}: CPU ${Math.round(node.cpuPercent)} %, memory ${node.memoryMb} MB.`,
      detail: null,
      facts: { cpuPercent: Math.round(node.cpuPercent), memoryMb: node.memoryMb },
    },
  ]
}
