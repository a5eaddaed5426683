/**
 * Follows a draining node until it has left, and counts its runs by outcome: finished, released for other nodes, or
 * lost, which means that another replica had to recover them.
 */
import { exitCodes } from '@q/runner/report-error'
import type { RunId, HeldRunView, Node } from '@q/store'
import { shellWord } from '@q/server/client'
import { countdown, long, shortDuration } from '../words/ages.ts'
import type { CommandContext } from './command.ts'
import { repeat } from './repeat.ts'

export interface DrainToFollow {
  readonly node: Node
  /** The beginning of the answer. */
  readonly document: object
  readonly timeoutMs?: number
}

const lookEveryMs = 500
const namedMax = 4
/** More runs than a node holds. */
const recoveriesMax = 500

export async function followDrain(
  context: CommandContext,
  { node, document, timeoutMs }: DrainToFollow,
): Promise<number> {
  const { store, terminal } = context
  const begun = performance.now()
  const seen = new Set<RunId>()
  const before = await newestRecovery(context, node)
  let state = node.state as Node['state'] | 'gone'
  let isLate = false
  const end = await repeat(lookEveryMs, async () => {
    const detail = await store.nodeDetail(node.id)
    state = detail?.node.state ?? 'gone'
    for (const run of detail?.held ?? []) seen.add(run.id)
    if (detail === undefined || state === 'stopped' || state === 'stale' || detail.node.drain === null) return 'done'
    terminal.progress(progressLine(detail.node, detail.held))
    isLate = timeoutMs !== undefined && performance.now() - begun > timeoutMs
    return isLate ? 'done' : 'again'
  })
  terminal.progress('')
  const tookMs = Math.round(performance.now() - begun)
  const became = await fates(context, node, { ids: [...seen], before })
  const left = state === 'stopped' || state === 'gone'
  context.answer({ ...document, tookMs, ...became, left }, () => sentence(node, { state, tookMs, ...became }))
  if (end === 'interrupted' || isLate) {
    terminal.tell(`${node.name} keeps draining. Undo: q undrain ${shellWord(node.name)}`)
    return exitCodes.timedOut
  }
  if (!left && state !== 'stale') return exitCodes.runFailed
  return state === 'stale' || became.lost + became.held > 0 ? exitCodes.runsLeftBehind : exitCodes.ok
}

interface Fates {
  readonly finished: number
  readonly released: number
  readonly lost: number
  /** It still has them. */
  readonly held: number
}

interface SeenRuns {
  readonly ids: readonly RunId[]
  /** The newest recovery from the node before the drain: a run may have been recovered from it earlier. */
  readonly before: bigint
}

async function newestRecovery({ store }: CommandContext, { id }: Node): Promise<bigint> {
  const [newest] = (await store.listRecoveries({ node: id, limit: 1 })).items
  return BigInt(newest?.id ?? 0)
}

/**
 * Judged by their present states. A run that has ended under this node was finished, unless it was recovered from the node
 * since; one that another node has taken in the meantime was released, even if it has ended there.
 */
async function fates({ store }: CommandContext, node: Node, { ids, before }: SeenRuns): Promise<Fates> {
  const runs = await store.getTaskRuns(ids)
  const detail = await store.nodeDetail(node.id)
  const recoveries = (await store.listRecoveries({ node: node.id, limit: recoveriesMax })).items
  const recovered = new Set(recoveries.filter(({ id }) => BigInt(id) > before).map(({ runId }) => runId))
  const stillHeld = new Set((detail?.held ?? []).map(({ id }) => id))
  const tally = { finished: 0, released: 0, lost: 0, held: 0 }
  for (const run of runs) {
    if (recovered.has(run.id)) tally.lost++
    else if (stillHeld.has(run.id)) tally.held++
    else if (isEnded(run.status) && run.replicaId === node.id) tally.finished++
    else tally.released++
  }
  return tally
}

function isEnded(status: string): boolean {
  return !['PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING'].includes(status)
}

function progressLine(node: Node, held: readonly HeldRunView[]): string {
  const named = held.slice(0, namedMax).map(runText).join(', ')
  const more = held.length > namedMax ? `, ${held.length - namedMax} more` : ''
  const deadline = node.drain?.deadline ?? null
  const left = deadline === null ? '' : `   [${countdown(deadline.getTime() - Date.now())} left]`
  return `${node.name}: no new runs. ${held.length} of ${node.slots} left${named === '' ? '' : `: ${named}${more}`}${left}`
}

function runText({ id, task, progress, expectedEndMs }: HeldRunView): string {
  const percent = progress === null ? '' : ` ${Math.round(progress * 100)} %`
  return `${id} ${task}${percent}${expectedEndMs === null ? '' : ` (~${shortDuration(expectedEndMs)})`}`
}

function sentence(node: Node, end: Fates & { readonly state: string; readonly tookMs: number }): string {
  const held = end.held === 0 ? '' : `, ${end.held} still held`
  const runs = `${end.finished} finished, ${end.released} released, ${end.lost} lost${held}`
  switch (end.state) {
    case 'stopped':
    case 'gone':
      return `${node.name} stopped ${end.lost + end.held === 0 ? 'cleanly ' : ''}after ${long(end.tookMs)}: ${runs}.`
    case 'stale':
      return node.state === 'stale'
        ? `${node.name} is lost, and cannot drain: ${runs}.`
        : `${node.name} was lost while it drained, after ${long(end.tookMs)}: ${runs}.`
    case 'draining':
      return `${node.name} is still draining after ${long(end.tookMs)}: ${runs}.`
    default:
      return `${node.name} is no longer draining: the drain was undone after ${long(end.tookMs)}.`
  }
}
