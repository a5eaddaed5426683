/** Faults in how runs are handed to threads in batches. */
import { runnerTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/runner/src/${path}`
const ring = src('protocol/ring-layout.ts')
const slotLayout = src('protocol/slot-layout.ts')
const feed = src('main/executors/thread-feed.ts')
const serve = src('thread/serve.ts')

export const batchFaults: readonly Fault[] = [
  {
    name: 'begin-without-the-exchange',
    why: 'A run begins although it is withdrawn at the same moment, and is executed twice.',
    caughtBy: [runnerTest('ring-layout')],
    edits: [
      {
        file: ring,
        find: 'return Atomics.compareExchange(words, entryOf(seq), waiting, valueOf(seq, to)) === waiting',
        replace:
          'return Atomics.load(words, entryOf(seq)) === waiting && Atomics.store(words, entryOf(seq), valueOf(seq, to)) !== 0',
      },
    ],
  },
  {
    name: 'withdrawn-run-begins',
    why: 'A thread executes every command it has, also those that were withdrawn and went elsewhere.',
    caughtBy: [runnerTest('serve')],
    edits: [
      {
        file: serve,
        find: 'else if (tryBegin(deps.ring, command.seq)) await execute(command)',
        replace: 'else if (tryBegin(deps.ring, command.seq) || true) await execute(command)',
      },
    ],
  },
  {
    name: 'withdraw-after-begin',
    why: 'A run that executes is taken for withdrawn, and begins again elsewhere.',
    caughtBy: [runnerTest('thread-feed')],
    edits: [
      {
        file: feed,
        find: 'if (feed.runs.at(seq) !== one || !tryWithdraw(feed.ring, seq)) return false',
        replace: 'if (feed.runs.at(seq) !== one || (tryWithdraw(feed.ring, seq), false)) return false',
      },
    ],
  },
  {
    name: 'old-command-begins-the-next-run',
    why: 'A command that was withdrawn begins the run that has its entry by now.',
    caughtBy: [runnerTest('ring-layout')],
    edits: [
      {
        file: ring,
        find: 'const waiting = valueOf(seq, states.waiting)',
        replace: 'const waiting = ((Atomics.load(words, entryOf(seq)) >> stateBits) << stateBits) | states.waiting',
      },
    ],
  },
  {
    name: 'entry-reused-too-early',
    why: 'Withdrawn runs behind one that executes do not count, and its entry is given to another run: it vanishes.',
    caughtBy: [runnerTest('thread-feed')],
    edits: [
      {
        file: src('main/executors/handed-runs.ts'),
        find: 'Math.max(0, Math.min(ringEntries - load, ringEntries - (latest - oldest + 1)))',
        replace: 'Math.max(0, ringEntries - load)',
      },
    ],
  },
  {
    name: 'late-abort-hits-the-next-run',
    why: 'A stop that comes after the end of its run stops the next run of the thread.',
    caughtBy: [runnerTest('slot-layout')],
    edits: [
      {
        file: slotLayout,
        find: 'return value >> reasonBits === tagOf(seq) ? abortReasons[value & reasonMask] || undefined : undefined',
        replace: 'return seq > 0 ? abortReasons[value & reasonMask] || undefined : undefined',
      },
    ],
  },
  {
    name: 'late-abort-replaces-a-later-one',
    why: 'A stop that comes after the end of its run hides the stop of the next one, whose thread is then ended.',
    caughtBy: [runnerTest('slot-layout')],
    edits: [
      {
        file: slotLayout,
        find: 'isAtOrAfter(before >> reasonBits, tagOf(seq))',
        replace: 'before >> reasonBits === tagOf(seq)',
      },
    ],
  },
  {
    name: 'thread-ended-under-the-next-run',
    why: 'A run that begins while its thread is being ended for the run before it dies in its place.',
    caughtBy: [runnerTest('thread-feed-deaths')],
    edits: [
      {
        file: feed,
        find: '[...runs.open()].filter(({ command }) => tryWithdraw(ring, command.seq))',
        replace: '[...runs.open()].filter(() => false)',
      },
    ],
  },
  {
    name: 'result-of-a-dead-thread-lost',
    why: 'A run that has ended counts as crashed, because its thread died before the end was collected.',
    caughtBy: [runnerTest('thread-feed-deaths')],
    edits: [
      { file: feed, find: '  feed.port = undefined\n  collect(feed)\n', replace: '  feed.port = undefined\n' },
      // Its messages would collect it.
      { file: feed, find: 'rest = received(feed)) onMessage(feed, rest)', replace: 'rest = received(feed)) void rest' },
    ],
  },
  {
    name: 'message-of-a-dead-thread-lost',
    why: 'The same, for a report that was sent as a message.',
    caughtBy: [runnerTest('thread-feed-deaths')],
    edits: [
      { file: feed, find: 'rest = received(feed)) onMessage(feed, rest)', replace: 'rest = received(feed)) void rest' },
    ],
  },
  {
    name: 'waiting-run-fails-with-its-thread',
    why: 'Runs that have not begun fail because another one ended their thread.',
    caughtBy: [runnerTest('thread-feed-deaths')],
    edits: [
      {
        file: feed,
        find: "if (isIn(feed, 'waiting')(one)) returnRun(feed, one)",
        replace: "if (isIn(feed, 'free')(one)) returnRun(feed, one)",
      },
    ],
  },
]
