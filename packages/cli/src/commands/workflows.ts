/** q workflows: lists workflows, shows one with its steps, and changes them. */
import { Option, type Command } from 'commander'
import type { WorkflowStatus } from '@q/store'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import { nextPage, tellPageEnd } from '../frame/next-page.ts'
import { orderCommand } from '../frame/order.ts'
import type { Terminal } from '../frame/terminal.ts'
import { workflowScreen, workflowsTable } from '../screens/workflows.ts'
import { parseRunId, workflowId } from '../typed/ids.ts'
import { workflowNotFound } from '../typed/not-found.ts'
import { wholeNumber } from '../typed/numbers.ts'
import { countText } from '../words/counts.ts'

interface Options extends CommonOptions {
  readonly status?: string
  readonly name?: string
  readonly limit: string
  readonly cursor?: string
}

const states = ['running', 'paused', 'succeeded', 'failed', 'cancelled']

export function workflowsCommand(terminal: Terminal): Command {
  const workflows = newCommand({
    name: 'workflows',
    summary: 'list workflows with their progress',
    examples: [
      ['q workflows --status failed', 'those that failed, newest first'],
      ['q workflows show 412', 'one, with its steps'],
      ['q workflows retry-failed 412', 'steps that did not succeed begin again'],
    ],
    json: '{ items: [workflow], next }',
    route: 'GET /api/workflows',
  })
    .addOption(new Option('--status <state>', 'in this state').choices(states))
    .option('--name <name>', 'of this name')
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (options: Options, command: Command) => {
      await operate(terminal, options, async (context) => {
        const { store, answer } = context
        const { status, name, cursor } = options
        const page = await store.listWorkflows({
          limit: wholeNumber('--limit', options.limit, 1, 500),
          ...(status !== undefined && { status: status.toUpperCase() as WorkflowStatus }),
          ...(name !== undefined && { name }),
          ...(cursor !== undefined && { cursor }),
        })
        answer(page, (look) => (page.items.length === 0 ? emptyText(page.next) : workflowsTable(look, page.items)))
        tellPageEnd(context, command, {
          shown: page.items.length,
          noun: 'workflow',
          order: 'newest first',
          next: page.next,
        })
      })
    })
  workflows.addCommand(showWorkflowCommand(terminal))
  for (const order of orderCommands(terminal)) workflows.addCommand(order)
  return workflows
}

/** A page reads a bounded number of workflows, whether they match or not. */
function emptyText(next: string | undefined): string {
  return next === undefined
    ? 'No workflow matches.'
    : 'No workflow matches among those looked at; there are older ones.'
}

const stepsMax = 1_000

function showWorkflowCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'show',
    summary: 'show a workflow with its steps, parents before children',
    examples: [
      ['q workflows show 412', 'its steps, what each waits for, and how they ended'],
      ['q workflows show 412 --json', 'the same, as data'],
    ],
    json: '{ workflow, steps: [step] }',
    route: 'GET /api/workflows/{id}, GET /api/workflows/{id}/steps',
  })
    .argument('<workflow>', 'id of the workflow')
    .option('--after <run>', 'continue after this step: one page has 1000 steps')
    .action(async (text: string, options: CommonOptions & { after?: string }, command: Command) => {
      await operate(terminal, options, async ({ store, answer, json }) => {
        const id = workflowId(text)
        const [workflow] = await store.getWorkflows([id])
        if (workflow === undefined) throw workflowNotFound(id)
        const after = options.after === undefined ? {} : { after: parseRunId(options.after) }
        const steps = await store.listSteps(id, { ...after, limit: stepsMax })
        answer({ workflow, steps }, (look) => workflowScreen(look, workflow, steps))
        const last = steps.at(-1)
        if (!json && last !== undefined && steps.length === stepsMax)
          terminal.tell(`${countText(stepsMax)} steps shown. Next: ${nextPage(command, '--after', last.runId)}`)
      })
    })
}

const about = {
  subject: 'workflow',
  argument: ['<workflow>', 'id of the workflow'],
  parse: workflowId,
  notFound: workflowNotFound,
} as const
const ended = ['has ended already', false] as const
const ending = ['is ending already, and waits for steps that still run', false] as const

function orderCommands(terminal: Terminal): Command[] {
  return [
    orderCommand(terminal, {
      ...about,
      texts: {
        name: 'pause',
        summary: 'pause a workflow: no further step starts, running ones continue',
        examples: [
          ['q workflows pause 412', 'its inner workflows are paused too'],
          ['q workflows resume 412', 'ends the pause'],
        ],
        json: '{ workflow, answer: paused | already-paused | ending | already-ended }',
        route: 'POST /api/workflows/{id}/pause',
      },
      audit: 'pause-workflow',
      act: ({ store, by }, id) => store.pauseWorkflow(id, by),
      sentences: {
        paused: ['is paused', true],
        'already-paused': ['was paused before', true],
        ending,
        'already-ended': ended,
      },
    }),
    orderCommand(terminal, {
      ...about,
      texts: {
        name: 'resume',
        summary: 'resume a paused workflow',
        examples: [
          ['q workflows resume 412', 'it continues where it was held'],
          ['q workflows show 412', 'shows which steps run now'],
        ],
        json: '{ workflow, answer: resumed | not-paused | already-ended }',
        route: 'POST /api/workflows/{id}/resume',
      },
      audit: 'resume-workflow',
      act: ({ store }, id) => store.resumeWorkflow(id),
      sentences: { resumed: ['continues', true], 'not-paused': ['was not paused', true], 'already-ended': ended },
    }),
    orderCommand(terminal, {
      ...about,
      texts: {
        name: 'cancel',
        summary: 'cancel a workflow: steps that have not started are cancelled, running ones are stopped',
        examples: [
          ['q workflows cancel 412', 'then its compensations run, if it has any'],
          ['q workflows show 412', 'shows what still runs'],
        ],
        json: '{ workflow, answer: cancelled | requested | ending | already-ended }',
        route: 'POST /api/workflows/{id}/cancel',
      },
      audit: 'cancel-workflow',
      act: ({ store }, id) => store.cancelWorkflow(id),
      sentences: {
        cancelled: ['is CANCELLED', true],
        requested: ['ends when its running steps have stopped', true],
        ending,
        'already-ended': ended,
      },
    }),
    orderCommand(terminal, {
      ...about,
      texts: {
        name: 'retry-failed',
        summary: 'start the steps again that did not succeed, and those that were skipped because of them',
        examples: [
          ['q workflows retry-failed 412', 'the workflow runs again'],
          ['q retry 9123', 'does the same for one step'],
        ],
        json: '{ workflow, answer: retried | … }',
        route: 'POST /api/workflows/{id}/retry-failed',
      },
      audit: 'retry-workflow',
      act: ({ store }, id) => store.retryFailedSteps(id),
      sentences: retrySentences,
    }),
  ]
}

const retrySentences = {
  retried: ['runs again', true],
  'nothing-failed': ['has no step that failed', false],
  'not-ended': ['has not ended', false],
  ending: ['is ending, and waits for steps that still run', false],
  compensated: ['cannot be retried: its compensation has begun', false],
  conflict: ['was not retried: another live run has the unique key of a step', false],
} as const
