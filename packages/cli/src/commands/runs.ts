/** q runs: lists runs by view and filter, a page at a time. */
import { Option, type Command } from 'commander'
import type { RunCount, RunSummaryPage, PageRequest, RunViewName } from '@q/store'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { tellPageEnd } from '../frame/next-page.ts'
import type { Terminal } from '../frame/terminal.ts'
import { runsTable } from '../screens/runs.ts'
import { wholeNumber } from '../typed/numbers.ts'
import { moment } from '../words/ages.ts'
import { filterOfOptions, withFilterOptions, type FilterOptions } from '../typed/run-filter.ts'
import { unknownNames } from '../typed/unknown-names.ts'

const orders: Readonly<Record<RunViewName, string>> = {
  newest: 'newest first',
  running: 'running longest first',
  failed: 'failed attempts, last first',
  waiting: 'waiting longest first',
  review: 'to review, newest first',
  stopping: 'stopping longest first',
}

interface Options extends CommonOptions, FilterOptions {
  readonly view: RunViewName
  readonly limit: string
  readonly before?: string
  readonly look?: string
  readonly count?: true
}

export function runsCommand(terminal: Terminal): Command {
  const command = newCommand({
    name: 'runs',
    summary: 'list runs by view and filter',
    examples: [
      ['q runs --view failed --ended-since 1h', 'what failed in the last hour'],
      ['q runs --view waiting --queue media', 'what waits longest in a queue'],
      [`q runs --task resize --payload 'url~cdn' --json`, 'by a member of the payload, as data'],
    ],
    json: '{ runs: [run], next, looked, lookedBackTo, exhausted }; with --count { count, atLeast, lookedBackTo, exhausted }',
    route: 'GET /api/runs',
  })
    .addOption(
      new Option('--view <view>', 'which runs, and in which order; failed: those whose last attempt failed')
        .choices(Object.keys(orders))
        .default('newest'),
    )
    .option('--limit <n>', 'at most this many, up to 500', '50')
    .option('--before <cursor>', 'continue after the previous page (its last line names the cursor)')
    .option('--look <n>', 'read at most this many runs, up to 1000000; default 50000')
    .option('--count', 'count the matching runs, up to 10 000, instead of listing them')
  return withFilterOptions(command).action(async (options: Options) => {
    await operate(terminal, options, async (context) => {
      const { store, answer } = context
      const filter = await filterOfOptions(store, options)
      if (options.count === true) {
        const { view } = options
        const { look } = pageOf(options)
        const counted = await store.countTaskRuns(filter, { view, ...(look !== undefined && { look }) })
        answer(counted, () => `${counted.count}${counted.atLeast ? '+' : ''}`)
        if (!context.json && !counted.exhausted) context.terminal.tell(uncountedText(counted))
        if (counted.count === 0) await tellUnknownNames(context, options)
        return
      }
      const page = await store.listTaskRuns(filter, pageOf(options))
      answer(page, (look) => (page.runs.length === 0 ? emptyText(page) : runsTable(look, page.runs)))
      if (page.runs.length === 0) await tellUnknownNames(context, options)
      tellPageEnd(context, command, {
        shown: page.runs.length,
        noun: 'run',
        order: orders[options.view],
        lookedBackTo: page.exhausted ? null : page.lookedBackTo,
        next: page.next,
        option: '--before',
      })
      if (!context.json && options.view === 'failed') context.terminal.tell(failedWaiting)
    })
  })
}

async function tellUnknownNames({ store, terminal, json }: CommandContext, options: FilterOptions): Promise<void> {
  if (!json) for (const sentence of await unknownNames(store, options)) terminal.tell(sentence)
}

function pageOf({ view, limit, before, look }: Options): PageRequest {
  return {
    view,
    limit: wholeNumber('--limit', limit, 1, 500),
    ...(before === undefined ? {} : { cursor: before }),
    ...(look === undefined ? {} : { look: wholeNumber('--look', look, 1, 1_000_000) }),
  }
}

/** The count stopped at its bound, or at the bound of what it reads. */
function uncountedText({ count, lookedBackTo }: RunCount): string {
  const back = lookedBackTo === null ? '' : `; looked back to ${moment(lookedBackTo)}`
  const more = count < countMax ? ' To read more: --look' : ''
  return `There may be more${back}.${more}`
}

const countMax = 10_000

/** The view follows the ends of attempts, so it cannot show a run whose end was not that of an attempt, as UNROUTABLE. */
const failedWaiting = 'Runs that failed while they waited, as UNROUTABLE, are not in this view: q runs --status failed'

/** Distinguishes "no run matches" from "the search stopped before it found one". */
function emptyText({ exhausted }: RunSummaryPage): string {
  return exhausted ? 'No run matches.' : 'No run matches among those looked at; there are older ones.'
}
