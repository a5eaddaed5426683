/** q recover: recovers runs of dead nodes now, as a reaper would. */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import type { Node, RunId, StaleQuery, StaleRun } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { staleTable } from '../screens/stale.ts'
import { nodeNamed } from '../typed/nodes.ts'
import { plural } from '../words/counts.ts'

interface Options extends CommonOptions {
  readonly dryRun?: true
  readonly node?: string
  readonly force?: true
}

export function recoverCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'recover',
    summary:
      'recover the runs of dead nodes now, judged by their own thresholds; live replicas do the same on their own',
    examples: [
      ['q recover --dry-run', 'which runs are stale, and by which evidence'],
      ['q recover --node eu-3', 'only the runs that this node held'],
    ],
    json: '{ dryRun, items: [{ id, status, replicaId, name, hostname, cause, beatAgeMs }], ids, count, stuck: [{ id, error }], locked: [id] }',
    route: 'GET /api/stale, POST /api/recover',
  })
    .option('--dry-run', 'change nothing')
    .option('--node <node>', 'only runs that this node holds')
    .option(
      '--force',
      'judge heartbeats even if the server has not accepted any for a whole threshold, as after an outage: a live node may lose runs',
    )
    .action(async (options: Options) => {
      await operate(terminal, options, async (context) => {
        const question = await questionOf(context, options)
        const items = await context.store.getStaleTaskRuns(question)
        if (items.length === 0) return nothingStale(context, question, options)
        if (options.dryRun !== true) return recover(context, question, { items, options })
        const rest = await leftAloneLines(context, question, { options, judged: items })
        context.answer({ ...nothingRecovered, dryRun: true, items }, (look) =>
          [`${plural(items.length, 'run')} would be recovered:\n${staleTable(look, items)}`, ...rest].join('\n'),
        )
        return exitCodes.ok
      })
    })
}

/**
 * This command has not observed heartbeats itself, so it relies on those that the server has accepted from replicas.
 * Otherwise every node would look dead right after an outage of the database.
 */
async function questionOf({ store }: CommandContext, { node, force }: Options): Promise<StaleQuery> {
  const replica = node === undefined ? {} : { replicaId: (await nodeNamed(store, node)).id }
  return force === true ? replica : { ...replica, thresholdMsMax: 0, sharedMsMax: Number.POSITIVE_INFINITY }
}

const nothingRecovered = { ids: [], count: 0, stuck: [], locked: [] }

async function nothingStale(
  context: CommandContext,
  question: StaleQuery,
  { dryRun, force }: Options,
): Promise<number> {
  const leftAlone = force === true ? 0 : await runsLeftAlone(context, question, [])
  const lost = leftAlone > 0 ? [] : await lostHolders(context, question)
  context.answer({ ...nothingRecovered, dryRun: dryRun === true, items: [] }, () =>
    leftAlone > 0 ? leftAloneText(leftAlone) : ['No run is stale.', ...lost.map(lostHolderText)].join('\n'),
  )
  return exitCodes.ok
}

/** Counts runs that are stale by heartbeats alone, while the server has accepted none lately: every node may be dead, or cut off. */
async function runsLeftAlone(
  { store }: CommandContext,
  { replicaId }: StaleQuery,
  judged: readonly StaleRun[],
): Promise<number> {
  const known = new Set(judged.map(({ id }) => id))
  const stale = await store.getStaleTaskRuns(replicaId === undefined ? {} : { replicaId })
  return stale.filter(({ id }) => !known.has(id)).length
}

function leftAloneText(runs: number): string {
  return [
    `${plural(runs, 'run')} of silent nodes ${runs === 1 ? 'is' : 'are'} left alone: the server has accepted no heartbeat for a whole threshold, as after an outage.`,
    'A node that starts recovers such runs when it has observed the silence itself. If every node is dead, q recover --force recovers them now.',
  ].join('\n')
}

/** Nodes whose session is gone, and whose runs only a replica may recover before they are stale by their heartbeats. */
async function lostHolders({ store }: CommandContext, { replicaId }: StaleQuery): Promise<Node[]> {
  const nodes = await store.listNodes()
  return nodes.filter(
    ({ id, state, activeRuns }) => state === 'stale' && activeRuns > 0 && (replicaId === undefined || id === replicaId),
  )
}

function lostHolderText({ name, activeRuns }: Node): string {
  const runs = plural(activeRuns, 'run')
  return `${name} is lost and executed ${runs}: a live node, or the next that starts, recovers ${activeRuns === 1 ? 'it' : 'them'} within seconds.`
}

/** `judged`: the runs whose evidence counts, although they are not recovered. */
async function leftAloneLines(
  context: CommandContext,
  question: StaleQuery,
  { options, judged }: { readonly options: Options; readonly judged: readonly StaleRun[] },
): Promise<string[]> {
  const runs = options.force === true ? 0 : await runsLeftAlone(context, question, judged)
  return runs > 0 ? [leftAloneText(runs)] : []
}

async function recover(
  context: CommandContext,
  question: StaleQuery,
  { items, options }: { readonly items: readonly object[]; readonly options: Options },
): Promise<number> {
  const recovered = await audited(context, {
    what: 'recover',
    subject: question.replicaId ?? 'stale runs',
    act: () => context.store.reap({ ...question, by: context.by }),
    answerOf: ({ count }) => `recovered ${count}`,
  })
  const stuck = (recovered.stuck ?? []).map(({ id, error }) => ({
    id,
    error: error instanceof Error ? error.message : String(error),
  }))
  const still = await context.store.getStaleTaskRuns(question)
  const locked = still.map(({ id }) => id).filter((id) => !stuck.some((one) => one.id === id))
  const rest = await leftAloneLines(context, question, { options, judged: still })
  context.answer({ dryRun: false, items, ids: recovered.ids, count: recovered.count, stuck, locked }, () =>
    [
      `${plural(recovered.count, 'run')} recovered${recovered.count === 0 ? '' : `: ${recovered.ids.slice(0, 20).join(', ')}`}.`,
      ...stuck.map(({ id, error }) => `Run ${id} could not be recovered: ${error}`),
      ...(locked.length > 0 ? [lockedText(locked)] : []),
      ...rest,
    ].join('\n'),
  )
  return stuck.length + locked.length > 0 ? exitCodes.partly : exitCodes.ok
}

function lockedText(ids: readonly RunId[]): string {
  const them = ids.length === 1 ? 'it' : 'them'
  return `${plural(ids.length, 'run')} (${ids.slice(0, 20).join(', ')}) ${ids.length === 1 ? 'is' : 'are'} locked by another session, for example to recover ${them}. Run q recover again.`
}
