/** q queues: lists queues, shows one, pauses and resumes. */
import type { Command } from 'commander'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { listEnd } from '../frame/list-end.ts'
import type { Terminal } from '../frame/terminal.ts'
import { queuesTable, queueScreen } from '../screens/queues.ts'
import { shellWord } from '@q/server/client'
import { noSuchQueue, unusedQueueWarning } from '../typed/unknown-names.ts'

export function queuesCommand(terminal: Terminal): Command {
  const queues = newCommand({
    name: 'queues',
    summary: 'list the queues: backlog, oldest ready run, rates; or show one with its tasks, groups and contended keys',
    examples: [
      ['q queues', 'all queues'],
      ['q queues media', 'one queue in detail'],
      ['q queues pause media --reason "bad deploy"', 'claims skip it; running runs continue'],
    ],
    json: '{ items: [queue] }; with a name the queue with tasks, groups and keys',
    route: 'GET /api/queues, GET /api/queues/{queue}',
  })
    .argument('[queue]', 'name of the queue')
    .action(async (name: string | undefined, options: CommonOptions) => {
      await operate(terminal, options, async ({ store, answer, json }) => {
        if (name !== undefined) {
          const queue = await store.getQueue(name)
          if (queue === undefined) throw await noSuchQueue(store, name)
          return answer(queue, (look) => queueScreen(look, queue))
        }
        const items = await store.listQueues()
        answer({ items }, (look) => (items.length === 0 ? 'No run has been enqueued yet.' : queuesTable(look, items)))
        if (!json && items.length > 0) terminal.tell(listEnd({ shown: items.length, noun: 'queue', order: 'by name' }))
      })
    })
  queues.addCommand(pauseCommand(terminal))
  queues.addCommand(resumeCommand(terminal))
  return queues
}

function pauseCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'pause',
    summary: 'pause a queue: claims skip it, running runs continue',
    examples: [
      ['q queues pause media --reason "bad deploy"', 'the reason is shown wherever the pause is'],
      ['q queues resume media', 'ends the pause'],
    ],
    json: '{ queue, paused: true }',
    route: 'PUT /api/queues/{queue}/pause',
  })
    .argument('<queue>', 'name of the queue')
    .option('--reason <text>', 'why')
    .action(async (queue: string, options: CommonOptions & { reason?: string }) => {
      await operate(terminal, options, async (context) => {
        const reason = options.reason
        const warning = await unusedQueueWarning(context.store, queue)
        if (warning !== undefined) terminal.tell(warning)
        await audited(context, {
          what: 'pause-queue',
          subject: `queue ${queue}`,
          detail: reason === undefined ? {} : { reason },
          act: () => context.store.pauseQueue(queue, context.by, ...(reason === undefined ? [] : [reason])),
          answerOf: () => 'paused',
        })
        context.answer(
          { queue, paused: true },
          () => `${queue} is paused. Running runs continue. Undo: q queues resume ${shellWord(queue)}`,
        )
      })
    })
}

function resumeCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'resume',
    summary: 'resume a queue: claims read it again',
    examples: [
      ['q queues resume media', 'claims see it again'],
      ['q queues', 'shows which queues are paused, and by whom'],
    ],
    json: '{ queue, paused: false }',
    route: 'DELETE /api/queues/{queue}/pause',
  })
    .argument('<queue>', 'name of the queue')
    .action(async (queue: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) => {
        if ((await context.store.getQueue(queue)) === undefined) throw await noSuchQueue(context.store, queue)
        await audited(context, {
          what: 'resume-queue',
          subject: `queue ${queue}`,
          act: () => context.store.resumeQueue(queue),
          answerOf: () => 'resumed',
        })
        context.answer({ queue, paused: false }, () => `${queue} is open.`)
      })
    })
}
