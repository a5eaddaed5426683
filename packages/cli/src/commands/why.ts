/** q why: why a run is not running, or why a queue is not served. */
import type { Command } from 'commander'
import type { Why } from '@q/store'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { whyScreen } from '../screens/why.ts'
import { parseRunId } from '../typed/ids.ts'
import { runNotFound } from '../typed/not-found.ts'
import { noSuchQueue } from '../typed/unknown-names.ts'

export function whyCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'why',
    summary: 'explain why a run is not running, with the command that helps',
    examples: [
      ['q why 8812', 'every reason, and the next command under each'],
      ['q why media', 'why runs of the queue media are not taken'],
    ],
    json: '{ runId, status, reasons: [{ reason, … }], sentence }; of a queue { queue, items: [the same] }',
    route: 'GET /api/runs/{id}/why',
  })
    .argument('<run or queue>', 'id of a run, or name of a queue')
    .action(async (text: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) =>
        isQueueName(text) ? whyQueue(context, text) : whyRun(context, text),
      )
    })
}

function isQueueName(text: string): boolean {
  return !/^(run\s+)?#?\d+$/i.test(text.trim()) && !/\/runs\/\d+/.test(text)
}

async function whyRun({ store, answer }: CommandContext, text: string): Promise<void> {
  const id = parseRunId(text)
  const why = await store.whyNotRunning(id)
  const [run] = await store.getTaskRuns([id])
  if (why === undefined || run === undefined) throw runNotFound(id)
  answer(why, (look) => whyScreen(look, why, run.task))
}

/** Explains one ready run of each lane; it represents the others. */
async function whyQueue({ store, answer }: CommandContext, queue: string): Promise<void> {
  if ((await store.getQueue(queue)) === undefined) throw await noSuchQueue(store, queue)
  const { runs } = await store.listTaskRuns({ queue, status: ['AVAILABLE', 'PENDING'] }, { view: 'waiting', limit: 50 })
  const samples = [
    ...new Map(runs.toReversed().map((run) => [`${run.task} ${run.status} ${run.waitingFor}`, run])).values(),
  ]
  const items: Why[] = []
  for (const { id } of samples.slice(0, samplesMax)) {
    const why = await store.whyNotRunning(id)
    if (why !== undefined) items.push(why)
  }
  const taskOf = new Map(runs.map((run) => [run.id, run.task]))
  answer({ queue, items }, (look) =>
    items.length === 0
      ? `No run waits in ${queue}.`
      : items.map((why) => whyScreen(look, why, taskOf.get(why.runId) ?? '')).join('\n'),
  )
}

const samplesMax = 5
