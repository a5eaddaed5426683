/** q recover: recovers runs of dead nodes now, as a reaper would. */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import type { StaleQuery } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type Frame } from '../frame/command.ts'
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
    json: '{ dryRun, items: [{ id, status, replicaId, name, hostname, cause, beatAgeMs }], ids, count, stuck: [{ id, error }] }',
    route: 'GET /api/stale, POST /api/recover',
  })
    .option('--dry-run', 'change nothing')
    .option('--node <node>', 'only runs that this node holds')
    .option(
      '--force',
      'judge heartbeats even if the server has not accepted any for a whole threshold, as after an outage: a live node may lose runs',
    )
    .action(async (options: Options) => {
      await operate(terminal, options, async (frame) => {
        const question = await questionOf(frame, options)
        const items = await frame.store.getStaleTaskRuns(question)
        if (options.dryRun === true || items.length === 0) {
          const leftAlone = items.length > 0 || options.force === true ? 0 : await runsLeftAlone(frame, question)
          frame.answer({ dryRun: options.dryRun === true, items, ids: [], count: 0, stuck: [] }, (look) =>
            items.length === 0
              ? leftAlone > 0
                ? leftAloneText(leftAlone)
                : 'No run is stale.'
              : `${plural(items.length, 'run')} would be recovered:\n${staleTable(look, items)}`,
          )
          return exitCodes.ok
        }
        return recover(frame, question, items)
      })
    })
}

/**
 * This command has not observed heartbeats itself, so it relies on those that the server has accepted from replicas.
 * Otherwise every node would look dead right after an outage of the database.
 */
async function questionOf({ store }: Frame, { node, force }: Options): Promise<StaleQuery> {
  const replica = node === undefined ? {} : { replicaId: (await nodeNamed(store, node)).id }
  return force === true ? replica : { ...replica, thresholdMsMax: 0, sharedMsMax: Number.POSITIVE_INFINITY }
}

/** Counts runs that are stale by heartbeats alone, while the server has accepted none lately: every node may be dead, or cut off. */
async function runsLeftAlone({ store }: Frame, { replicaId }: StaleQuery): Promise<number> {
  return (await store.getStaleTaskRuns(replicaId === undefined ? {} : { replicaId })).length
}

function leftAloneText(runs: number): string {
  return [
    `${plural(runs, 'run')} of silent nodes ${runs === 1 ? 'is' : 'are'} left alone: the server has accepted no heartbeat for a whole threshold, as after an outage.`,
    'A node that starts recovers such runs when it has observed the silence itself. If every node is dead, q recover --force recovers them now.',
  ].join('\n')
}

async function recover(frame: Frame, question: StaleQuery, items: readonly object[]): Promise<number> {
  const recovered = await audited(frame, {
    what: 'recover',
    subject: question.replicaId ?? 'stale runs',
    act: () => frame.store.reap({ ...question, by: frame.by }),
    answerOf: ({ count }) => `recovered ${count}`,
  })
  const stuck = (recovered.stuck ?? []).map(({ id, error }) => ({
    id,
    error: error instanceof Error ? error.message : String(error),
  }))
  frame.answer({ dryRun: false, items, ids: recovered.ids, count: recovered.count, stuck }, () =>
    [
      `${plural(recovered.count, 'run')} recovered${recovered.count === 0 ? '' : `: ${recovered.ids.slice(0, 20).join(', ')}`}.`,
      ...stuck.map(({ id, error }) => `Run ${id} could not be recovered: ${error}`),
    ].join('\n'),
  )
  return stuck.length > 0 ? exitCodes.partly : exitCodes.ok
}
