/** q schedules: lists schedules, shows one with its last ticks, and changes them. */
import type { Command } from 'commander'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { listEnd } from '../frame/list-end.ts'
import { orderCommand } from '../frame/order.ts'
import type { Terminal } from '../frame/terminal.ts'
import { schedulesTable, scheduleScreen } from '../screens/schedules.ts'
import { scheduleNotFound } from '../typed/not-found.ts'

export function schedulesCommand(terminal: Terminal): Command {
  const schedules = newCommand({
    name: 'schedules',
    summary: 'list the schedules with their last and next ticks; or show one',
    examples: [
      ['q schedules', 'all schedules'],
      ['q schedules nightly-report', 'one, with its last 20 ticks and what became of them'],
      ['q schedules run nightly-report', 'one run now, beside its ticks'],
    ],
    json: '{ items: [schedule] }; with a name { schedule, ticks: [{ tick, runId, status, startedAt, finishedAt, code }] }',
    route: 'GET /api/schedules, GET /api/schedules/{name}',
  })
    .argument('[name]', 'name of the schedule')
    .action(async (name: string | undefined, options: CommonOptions) => {
      await operate(terminal, options, async ({ store, answer, json }) => {
        if (name !== undefined) {
          const schedule = await store.getSchedule(name)
          if (schedule === undefined) throw scheduleNotFound(name)
          const ticks = await store.scheduleTicks(name)
          return answer({ schedule, ticks }, (look) => scheduleScreen(look, schedule, ticks))
        }
        const items = await store.listSchedules()
        answer({ items }, (look) => (items.length === 0 ? 'There is no schedule.' : schedulesTable(look, items)))
        if (!json && items.length > 0)
          terminal.tell(listEnd({ shown: items.length, noun: 'schedule', order: 'by name' }))
      })
    })
  for (const command of [runCommand(terminal), ...orderCommands(terminal)]) schedules.addCommand(command)
  return schedules
}

function orderCommands(terminal: Terminal): Command[] {
  const subject = {
    subject: 'schedule',
    argument: ['<name>', 'name of the schedule'],
    parse: String,
    notFound: scheduleNotFound,
  } as const
  return [
    orderCommand(terminal, {
      ...subject,
      texts: {
        name: 'pause',
        summary: 'pause a schedule: nothing ticks until it is resumed',
        examples: [
          ['q schedules pause nightly-report', 'ticks in the meantime are not missed ticks'],
          ['q schedules resume nightly-report', 'ends the pause'],
        ],
        json: '{ schedule, answer: paused }',
        route: 'POST /api/schedules/{name}/pause',
      },
      audit: 'pause-schedule',
      act: ({ store, by }, name) => store.pauseSchedule(name, by),
      sentences: { paused: ['is paused', true] },
    }),
    orderCommand(terminal, {
      ...subject,
      texts: {
        name: 'resume',
        summary: 'resume a schedule, counted from now',
        examples: [
          ['q schedules resume nightly-report', 'it ticks again'],
          ['q schedules nightly-report', 'shows its next tick'],
        ],
        json: '{ schedule, answer: resumed }',
        route: 'POST /api/schedules/{name}/resume',
      },
      audit: 'resume-schedule',
      act: ({ store }, name) => store.resumeSchedule(name),
      sentences: { resumed: ['ticks again', true] },
    }),
    orderCommand(terminal, {
      ...subject,
      texts: {
        name: 'delete',
        summary: 'delete a schedule; its runs stay',
        examples: [
          ['q schedules delete nightly-report', 'one that a task declares returns with the next replica that starts'],
          ['q schedules pause nightly-report', 'keeps it, without ticks'],
        ],
        json: '{ schedule, answer: removed }',
        route: 'DELETE /api/schedules/{name}',
      },
      audit: 'remove-schedule',
      act: ({ store }, name) => store.removeSchedule(name),
      sentences: { removed: ['is deleted; its runs stay', true] },
    }),
  ]
}

function runCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'run',
    summary: 'enqueue one run of a schedule now, in addition to its ticks',
    examples: [
      ['q schedules run nightly-report', 'prints the id of the run'],
      ['q schedules run nightly-report --json', '{ "schedule": …, "runId": … }'],
    ],
    json: '{ schedule, runId }',
    route: 'POST /api/schedules/{name}/run',
  })
    .argument('<name>', 'name of the schedule')
    .action(async (name: string, options: CommonOptions) => {
      await operate(terminal, options, async (context) => {
        const result = await audited(context, {
          what: 'run-schedule',
          subject: `schedule ${name}`,
          act: () => context.store.runScheduleNow(name, { by: context.by }),
          answerOf: (answer) => (typeof answer === 'string' ? answer : `run ${answer.runId}`),
        })
        if (typeof result === 'string') throw scheduleNotFound(name)
        context.answer({ schedule: name, runId: result.runId }, () => `Run ${result.runId} was enqueued.`)
      })
    })
}
