/** Faults in how runs are handed to threads in batches, and in what becomes of them there. */
import { runnerTest, storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/runner/src/${path}`
const ring = src('ring-layout.ts')
const pulse = src('pulse-layout.ts')
const feed = src('main/thread-feed.ts')
const dispatch = src('main/dispatch.ts')
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
    why: 'A thread executes every order it has, also those that were withdrawn and went elsewhere.',
    caughtBy: [runnerTest('serve')],
    edits: [
      {
        file: serve,
        find: 'else if (tryBegin(deps.ring, order.seq)) await execute(order)',
        replace: 'else if (tryBegin(deps.ring, order.seq) || true) await execute(order)',
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
        find: 'if (at(seq) !== one || !tryWithdraw(ring, seq)) return false',
        replace: 'if (at(seq) !== one || (tryWithdraw(ring, seq), false)) return false',
      },
    ],
  },
  {
    name: 'old-order-begins-the-next-run',
    why: 'An order that was withdrawn begins the run that has its entry by now.',
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
        file: feed,
        find: 'Math.max(0, Math.min(ringEntries - load, ringEntries - (latest - oldest + 1)))',
        replace: 'Math.max(0, ringEntries - load)',
      },
    ],
  },
  {
    name: 'late-abort-hits-the-next-run',
    why: 'A stop that comes after the end of its run stops the next run of the thread.',
    caughtBy: [runnerTest('pulse-layout')],
    edits: [
      {
        file: pulse,
        find: 'return value >> reasonBits === tagOf(seq) ? abortReasons[value & reasonMask] || undefined : undefined',
        replace: 'return seq > 0 ? abortReasons[value & reasonMask] || undefined : undefined',
      },
    ],
  },
  {
    name: 'late-abort-replaces-a-later-one',
    why: 'A stop that comes after the end of its run hides the stop of the next one, whose thread is then ended.',
    caughtBy: [runnerTest('pulse-layout')],
    edits: [
      {
        file: pulse,
        find: 'isAtOrAfter(before >> reasonBits, tagOf(seq))',
        replace: 'before >> reasonBits === tagOf(seq)',
      },
    ],
  },
  {
    name: 'thread-ended-under-the-next-run',
    why: 'A run that begins while its thread is being ended for the run before it dies in its place.',
    caughtBy: [runnerTest('thread-feed')],
    edits: [
      {
        file: feed,
        find: '[...openRuns()].filter(({ order }) => tryWithdraw(ring, order.seq))',
        replace: '[...openRuns()].filter(() => false)',
      },
    ],
  },
  {
    name: 'result-of-a-dead-thread-lost',
    why: 'A run that has ended counts as crashed, because its thread died before the end was collected.',
    caughtBy: [runnerTest('thread-feed')],
    edits: [
      { file: feed, find: '      port = undefined\n      collect()\n', replace: '      port = undefined\n' },
      // Its messages would collect it.
      { file: feed, find: 'rest = received(port)) hear(rest)', replace: 'rest = received(port)) void rest' },
    ],
  },
  {
    name: 'message-of-a-dead-thread-lost',
    why: 'The same, for a report that was sent as a message.',
    caughtBy: [runnerTest('thread-feed')],
    edits: [{ file: feed, find: 'rest = received(port)) hear(rest)', replace: 'rest = received(port)) void rest' }],
  },
  {
    name: 'waiting-run-fails-with-its-thread',
    why: 'Runs that have not begun fail because another one ended their thread.',
    caughtBy: [runnerTest('thread-feed')],
    edits: [
      {
        file: feed,
        find: "if (isIn('waiting')(one)) returnRun(one)",
        replace: "if (isIn('free')(one)) returnRun(one)",
      },
    ],
  },
  {
    name: 'monitor-closed-when-the-code-ends',
    why: 'No heartbeat is sent while the end of a run is being written, and another replica takes it for dead.',
    caughtBy: [runnerTest('dispatch')],
    edits: [
      {
        file: dispatch,
        find: '      one.monitor?.pulse.codeEnded()\n      one.monitor?.ended()\n',
        replace: '      one.monitor?.pulse.close()\n      one.monitor?.ended()\n',
      },
    ],
  },
  {
    name: 'run-forgotten-when-the-code-ends',
    why: 'The replica gives a run back whose end it is about to write.',
    caughtBy: [runnerTest('dispatch')],
    edits: [
      {
        file: dispatch,
        find: '      one.hasEnded = true\n',
        replace: '      one.hasEnded = true\n      holdings.settled(one.run)\n',
      },
    ],
  },
  {
    name: 'ahead-without-a-backlog',
    why: 'A run waits behind another one while a neighbour is idle.',
    caughtBy: [runnerTest('backlog')],
    edits: [
      {
        file: src('main/backlog.ts'),
        find: 'allowsStartAhead: () => seen && !exclusive',
        replace: 'allowsStartAhead: () => !exclusive',
      },
    ],
  },
  {
    name: 'ahead-of-a-long-task',
    why: 'A run waits behind one that takes seconds, and counts as started if the process dies.',
    caughtBy: [runnerTest('start-ahead')],
    edits: [
      {
        file: src('main/start-ahead.ts'),
        find: ' && expectedMs(task) <= 2 * options.startAheadMs',
        replace: '',
      },
    ],
  },
  {
    name: 'blocked-thread-not-relieved',
    why: 'Runs wait behind one that never ends, while other threads are idle.',
    caughtBy: [runnerTest('dispatch')],
    edits: [
      {
        file: dispatch,
        find: '(isOverdue(thread, deps.pulseBoard) ? withdrawFrom(thread) : [])',
        replace: '(thread.load.runs < 0 ? withdrawFrom(thread) : [])',
      },
    ],
  },
  {
    name: 'relieved-runs-return-to-the-blocked-thread',
    why: 'The blocked thread has the least expected work, so it gets its runs back each time.',
    caughtBy: [runnerTest('dispatch')],
    edits: [
      {
        file: dispatch,
        find: 'return !thread.exclusive && !isOverdue(thread, deps.pulseBoard)',
        replace: 'return !thread.exclusive',
      },
    ],
  },
  {
    name: 'withdrawn-run-counts-as-begun',
    why: 'A drain does not release runs that were started ahead: they end as crashed.',
    caughtBy: [runnerTest('dispatch')],
    edits: [{ file: dispatch, find: '    holdings.notBegun(one.run)\n', replace: '' }],
  },
  {
    name: 'waiting-run-fails-with-the-cut',
    why: 'A run that has not begun ends as crashed, because its replica is cut off from the database.',
    caughtBy: [runnerTest('dispatch')],
    edits: [
      {
        file: dispatch,
        find: "if (reason === 'cancelled' || reason === 'lease lost') concludeRun",
        replace: 'if (reason !== undefined) concludeRun',
      },
    ],
  },
  {
    name: 'released-without-its-attempt',
    why: 'A run that was started ahead and released has used an attempt without having begun.',
    caughtBy: [storeTest('settle')],
    edits: [
      {
        file: 'packages/store/src/runs/release.ts',
        find: "goal: 'AVAILABLE', giveBack: true,",
        replace: "goal: 'AVAILABLE',",
      },
    ],
  },
  {
    name: 'waiting-runs-ignore-the-fence-deadline',
    why: 'A replica whose main thread hangs begins runs that others have started.',
    caughtBy: [runnerTest('serve')],
    edits: [
      {
        file: serve,
        find: 'if (order.fenced && isPastFenceDeadline(slot)) tryDecline(deps.ring, order.seq)',
        replace: 'if (order.fenced && isPastFenceDeadline(slot) && order.seq < 0) tryDecline(deps.ring, order.seq)',
      },
    ],
  },
  {
    name: 'last-end-not-signalled',
    why: 'A thread whose last run was withdrawn does not signal the ends before it, and they are collected late.',
    caughtBy: [runnerTest('serve')],
    edits: [
      {
        file: serve,
        find: 'else if (tryBegin(deps.ring, order.seq)) await execute(order)\n',
        replace: 'else if (tryBegin(deps.ring, order.seq)) await execute(order)\n      else continue\n',
      },
    ],
  },
]
