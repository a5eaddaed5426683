/** q top: the cluster, live. Without a terminal one snapshot as text per interval. */
import type { Command } from 'commander'
import { durationMs } from '@q/task'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import { repeat } from '../frame/repeat.ts'
import type { Terminal } from '../frame/terminal.ts'
import { createLooker } from '../top/facts.ts'
import { topLines } from '../top/layout.ts'
import { firstView } from '../top/view.ts'
import { watchTop } from '../top/watch.ts'
import { wholeNumber } from '../typed/numbers.ts'

interface Options extends CommonOptions {
  readonly interval: string
  readonly count?: string
}

const intervalMsMin = 200

export function topCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'top',
    summary: 'watch queues, nodes and running runs live, and act on them by keys',
    examples: [
      ['q top', '1 2 3 choose a pane, arrows a line, enter shows it, d c r p act, q leaves'],
      ['q top --interval 5s --count 3 | tee top.txt', 'without a terminal: three snapshots as text'],
    ],
    json: 'NDJSON: one { at, place, overview, queues, nodes, runs, attention, history } per interval',
  })
    .option('--interval <duration>', 'time between two updates', '1s')
    .option('--count <n>', 'end after this many snapshots; not on a terminal')
    .action(async (options: Options) => {
      const everyMs = Math.max(intervalMsMin, durationMs(options.interval))
      const times =
        options.count === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--count', options.count, 1, 1_000_000)
      await operate(terminal, options, (context) =>
        terminal.columns > 0 && terminal.canAsk && !context.json && options.count === undefined
          ? watchTop(context, everyMs)
          : snapshots(context, everyMs, times),
      )
    })
}

async function snapshots(
  { store, description, answer }: CommandContext,
  everyMs: number,
  times: number,
): Promise<void> {
  const looker = createLooker(store, description)
  let left = times
  await repeat(everyMs, async () => {
    const facts = await looker.look()
    answer(
      { ...facts, history: Object.fromEntries(facts.history) },
      (look) => `${topLines(look, 0, facts, firstView).join('\n')}\n`,
    )
    left--
    return left > 0 ? 'again' : 'done'
  })
}
