/** q enqueue: one run, and with --wait what became of it. */
import { Command, Option } from 'commander'
import { queue, RunFailed, type EnqueueOptions, type ResultOptions, type RunHandle, type Task } from '@q/client'
import { exitCodes } from '@q/runner/problem'
import { ExplainedError } from '@q/schema'
import { durationMs } from '@q/task'
import { nearestName } from '../nearest-name.ts'
import { readPayload } from '../payload.ts'
import { print, session, tell, withStore } from '../session.ts'
import { showProgress } from '../watch.ts'

interface Options {
  readonly wait?: true
  readonly timeout?: string
  readonly delay?: string
  readonly priority?: string
  readonly json?: true
}

export function enqueueCommand(): Command {
  return new Command('enqueue')
    .description('enqueue one run of a task')
    .argument('<task>', 'name of the task; the run waits until a replica has published it')
    .argument('[payload]', 'JSON, @file, or - for standard input', undefined)
    .option('--wait', 'wait for the end and print the result')
    .addOption(new Option('--timeout <duration>', 'with --wait: give up waiting (exit code 5); the run goes on'))
    .option('--delay <duration>', 'not before this time has passed: 500ms, 30s, 5m, 1h, 2d')
    .option('--priority <n>', 'lower numbers first, default 0')
    .option('--json', 'print one JSON object: id, status and, with --wait, result')
    .action(async (task: string, payloadArgument: string | undefined, options: Options) => {
      await session(options, async ({ url }) => {
        const payload = readPayload(payloadArgument)
        const enqueueOptions = optionsOf(options)
        const wait = waitOf(options)
        await warnUnpublished(url, task)
        const q = queue<Record<string, Task<unknown, unknown>>>(url)
        try {
          const run = await q.enqueue(task, payload, enqueueOptions)
          return options.wait === true ? await printEnd(run, wait, options) : await printAccepted(run, task, options)
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
async function warnUnpublished(url: string, task: string): Promise<void> {
  const names = await withStore(url, async (store) => (await store.publishedTasks()).map(({ name }) => name))
  if (names.includes(task)) return
  const meant = nearestName(task, names)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  tell(`Warning: no replica has published the task "${task}"; its run waits until one does.${hint}`)
}

async function printAccepted(run: RunHandle<unknown>, task: string, options: Options): Promise<number> {
  const { status } = await run.status()
  print(options.json === true ? JSON.stringify({ id: run.id, status }) : `Run ${run.id} of ${task} is ${status}.`)
  return exitCodes.ok
}

async function printEnd(run: RunHandle<unknown>, wait: ResultOptions, options: Options): Promise<number> {
  const ended = new AbortController()
  const shown = showProgress(run, ended.signal)
  try {
    const result = await run.result(wait)
    ended.abort()
    await shown
    if (options.json === true) print(JSON.stringify({ id: run.id, status: 'SUCCEEDED', result }))
    else print(typeof result === 'string' ? result : JSON.stringify(result, null, 2))
    return exitCodes.ok
  } catch (error) {
    ended.abort()
    await shown
    if (!(error instanceof RunFailed)) throw error
    const { status, result } = error.run
    if (options.json === true) print(JSON.stringify({ id: run.id, status, result }))
    else tell(`${error.code}  ${error.message}`)
    return exitCodes.runFailed
  }
}
