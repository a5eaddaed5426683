/** q logs: prints the log lines of a run's code, and with --follow the new ones. */
import { Option, type Command } from 'commander'
import { isTerminal, type TaskState } from '@q/schema'
import type { LoggedLine, LogCursor, RunId } from '@q/store'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { repeat } from '../frame/repeat.ts'
import type { Terminal } from '../frame/terminal.ts'
import { levelNames, levelNumber, logLineText } from '../screens/logs.ts'
import { parseRunId } from '../typed/ids.ts'
import { runNotFound } from '../typed/not-found.ts'
import { wholeNumber } from '../typed/numbers.ts'
import { countText } from '../words/counts.ts'

interface Options extends CommonOptions {
  readonly follow?: true
  readonly level?: string
  readonly tail: string
}

const lookEveryMs = 500
const pageLines = 1_000

export function logsCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'logs',
    summary: "print what a run's code logged",
    examples: [
      ['q logs 9123', 'its last 200 lines'],
      ['q logs 9123 -f --level warn', 'warnings and errors, until the run has ended'],
    ],
    json: '{ lines: [{ at, level, line, facts, fence, lineNo }] }; with --follow one line each, as NDJSON',
    route: 'GET /api/runs/{id}/logs',
  })
    .argument('<run>', 'id of the run')
    .option('-f, --follow', 'continue with new lines until the run has ended')
    .addOption(new Option('--level <level>', 'this level and above').choices(levelNames))
    .option('--tail <n>', 'the last lines only, up to 1000', '200')
    .action(async (text: string, options: Options) => {
      await operate(terminal, options, async (context) => {
        const id = parseRunId(text)
        const last = wholeNumber('--tail', options.tail, 1, pageLines)
        const [run] = await context.store.getTaskRuns([id])
        if (run === undefined) throw runNotFound(id)
        const { lines } = await context.store.readTaskLogs(id, { last })
        const shown = lines.filter(isLoudEnough(options))
        if (options.follow === true) {
          if (!context.json && hasNotStarted(run.status))
            terminal.tell(`Run ${id} is ${run.status}: its code has not started. q why ${id} tells why.`)
          return follow(context, id, { lines, options })
        }
        context.answer({ lines: shown }, (look) =>
          shown.length === 0 ? 'The run has no log lines.' : shown.map((line) => logLineText(look, line)).join('\n'),
        )
        if (!context.json && lines.length === last) terminal.tell(endText(id, last, options))
      })
    })
}

/** The run may have exactly as many lines as were read. */
function endText(id: RunId, last: number, { level }: Options): string {
  const read = `The last ${countText(last)} lines were read${level === undefined ? '' : `; shown are those of ${level} and above`}.`
  const ofLevel = level === undefined ? '' : ` --level ${level}`
  return last === pageLines ? read : `${read} More: q logs ${id}${ofLevel} --tail ${pageLines}`
}

async function follow(
  { store, terminal, answer, json }: CommandContext,
  id: RunId,
  { lines, options }: { readonly lines: readonly LoggedLine[]; readonly options: Options },
): Promise<void> {
  const write = (some: readonly LoggedLine[]) => {
    for (const line of some.filter(isLoudEnough(options))) answer(line, (look) => logLineText(look, line))
  }
  write(lines)
  let place: LogCursor | undefined = placeOf(lines)
  await repeat(lookEveryMs, async () => {
    // Reads the state first, so that the lines written before the end are read below.
    const [run] = await store.getTaskRuns([id])
    for (;;) {
      const page = await store.readTaskLogs(id, { limit: pageLines, ...(place !== undefined && { after: place }) })
      write(page.lines)
      place = placeOf(page.lines) ?? place
      if (page.next === undefined) break
    }
    if (run !== undefined && !isTerminal(run.status)) return 'again'
    if (!json) terminal.tell(run === undefined ? `Run ${id} was removed.` : `Run ${id} ended ${run.status}.`)
    return 'done'
  })
}

function placeOf(lines: readonly LoggedLine[]): LogCursor | undefined {
  const last = lines.at(-1)
  return last === undefined ? undefined : { fence: last.fence, lineNo: last.lineNo }
}

function hasNotStarted(status: TaskState): boolean {
  return status === 'PENDING' || status === 'AVAILABLE' || status === 'CLAIMED'
}

function isLoudEnough({ level }: Options): (line: LoggedLine) => boolean {
  const least = level === undefined ? 0 : levelNumber(level)
  return (line) => line.level >= least
}
