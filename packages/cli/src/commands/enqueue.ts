/** q enqueue: enqueues one run and, with --wait, prints its result. */
import { Option, type Command } from 'commander'
import type { EnqueueOptions, ResultOptions, RunHandle, Task } from '@q/client'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import { durationMs } from '@q/task'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { showProgress } from '../frame/follow-run.ts'
import { nearestName } from '../typed/nearest-name.ts'
import { readPayload } from '../typed/payload.ts'
import type { Terminal } from '../frame/terminal.ts'

interface Options extends CommonOptions {
  readonly wait?: true
  readonly timeout?: string
  readonly delay?: string
  readonly priority?: string
  readonly group?: string
}

export function enqueueCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'enqueue',
    summary: 'enqueue one run of a task',
    examples: [
      [`q enqueue hello '{"name":"Ada"}' --wait`, 'prints the result'],
      ['q enqueue resize @payload.json --priority -10', 'the payload from a file, before other runs'],
      [
        `echo '{"ms":500}' | q enqueue wait - --delay 10s`,
        'the payload from standard input, not before 10 s have passed',
      ],
    ],
    json: '{ id, status } and, with --wait, result',
    route: 'POST /api/runs',
  })
    .argument('<task>', 'name of the task; the run waits until a replica has published it')
    .argument('[payload]', 'JSON, @file, or - for standard input', undefined)
    .option('--wait', 'wait for the end and print the result')
    .addOption(new Option('--timeout <duration>', 'with --wait: give up waiting (exit code 5); the run continues'))
    .option('--delay <duration>', 'not before this time has passed: 500ms, 30s, 5m, 1h, 2d')
    .option('--priority <n>', 'lower numbers first, default 0')
    .option('--group <group>', 'the group of the run, such as a tenant')
    .action(async (task: string, payloadArgument: string | undefined, options: Options) => {
      await operate(terminal, options, async (context) => {
        const payload = readPayload(payloadArgument, terminal.env)
        const enqueueOptions = optionsOf(options)
        const wait = waitOf(options)
        await warnUnpublished(context, task)
        const { queue } = await import('@q/client')
        const q = queue<Record<string, Task<unknown, unknown>>>(context.url)
        try {
          const run = await audited(context, {
            what: 'enqueue',
            subject: task,
            act: () => q.enqueue(task, payload, enqueueOptions),
            answerOf: ({ id }) => `run ${id}`,
          })
          return options.wait === true ? await printEnd(context, run, wait) : await printAccepted(context, run, task)
        } finally {
          await q.close()
        }
      })
    })
}

function optionsOf(options: Options): EnqueueOptions {
  return {
    ...(options.delay === undefined ? {} : { delay: durationMs(options.delay) }),
    ...(options.priority === undefined ? {} : { priority: priorityOf(options.priority) }),
    ...(options.group === undefined ? {} : { group: options.group }),
  }
}

/** Checked before anything is enqueued. */
function waitOf(options: Options): ResultOptions {
  return options.timeout === undefined ? {} : { timeout: durationMs(options.timeout) }
}

function priorityOf(text: string): number {
  if (/^-?\d{1,5}$/.test(text)) return Number(text)
  throw new ExplainedError({
    code: 'PRIORITY_INVALID',
    what: `"${text}" is not a priority.`,
    why: 'A priority is a whole number from -32767 to 32767; lower numbers run first.',
    fix: 'Use 0 for most runs and small numbers around it.',
  })
}

/** Warns about a task that no replica has published: its name may be misspelt, or its deployment may follow. */
async function warnUnpublished({ store, terminal }: CommandContext, task: string): Promise<void> {
  const names = (await store.publishedTasks()).map(({ name }) => name)
  if (names.includes(task)) return
  const meant = nearestName(task, names)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  terminal.tell(`Warning: no replica has published the task "${task}"; its run waits until one does.${hint}`)
}

async function printAccepted(context: CommandContext, run: RunHandle<unknown>, task: string): Promise<number> {
  const { status } = await run.status()
  context.answer({ id: run.id, status }, () => `Run ${run.id} of ${task} is ${status}.`)
  return exitCodes.ok
}

async function printEnd(context: CommandContext, run: RunHandle<unknown>, wait: ResultOptions): Promise<number> {
  const { RunFailed } = await import('@q/client')
  const ended = new AbortController()
  const shown = showProgress(context.terminal, run, ended.signal)
  try {
    const result = await run.result(wait)
    ended.abort()
    await shown
    if (context.json) context.answer({ id: run.id, status: 'SUCCEEDED', result }, () => '')
    else context.terminal.printData(typeof result === 'string' ? result : JSON.stringify(result, null, 2))
    return exitCodes.ok
  } catch (error) {
    ended.abort()
    await shown
    if (!(error instanceof RunFailed)) throw error
    const { status, result } = error.run
    if (context.json) context.answer({ id: run.id, status, result }, () => '')
    else context.terminal.tell(`${error.code}  ${error.message}`)
    return exitCodes.runFailed
  }
}
