/** Faults in how runs of a batch begin, end and are released. */
import { runnerTest, storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/runner/src/${path}`
const dispatch = src('main/dispatch/dispatch.ts')
const follow = src('main/dispatch/follow-runs.ts')
const serve = src('thread/serve.ts')

export const threadFaults: readonly Fault[] = [
  {
    name: 'monitor-closed-when-the-code-ends',
    why: 'No heartbeat is sent while the end of a run is being written, and another replica takes it for dead.',
    caughtBy: [runnerTest('dispatch'), runnerTest('dispatch-room')],
    edits: [
      {
        file: follow,
        find: '      one.watch?.monitor.codeEnded()\n      one.watch?.ended()\n',
        replace: '      one.watch?.monitor.close()\n      one.watch?.ended()\n',
      },
    ],
  },
  {
    name: 'run-forgotten-when-the-code-ends',
    why: 'The replica gives a run back whose end it is about to write.',
    caughtBy: [runnerTest('dispatch'), runnerTest('dispatch-room')],
    edits: [
      {
        file: follow,
        find: '      one.hasEnded = true\n',
        replace: '      one.hasEnded = true\n      heldRuns.settled(one.run)\n',
      },
    ],
  },
  {
    name: 'ahead-without-a-backlog',
    why: 'A run waits behind another one while a neighbour is idle.',
    caughtBy: [runnerTest('backlog')],
    edits: [
      {
        file: src('main/claim/backlog.ts'),
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
        file: src('main/dispatch/start-ahead.ts'),
        find: ' && expectedMs(task) <= 2 * options.startAheadMs',
        replace: '',
      },
    ],
  },
  {
    name: 'blocked-thread-not-relieved',
    why: 'Runs wait behind one that never ends, while other threads are idle.',
    caughtBy: [runnerTest('dispatch'), runnerTest('dispatch-room')],
    edits: [
      {
        file: dispatch,
        find: '(isOverdue(thread, runMonitors) ? withdrawFrom(deps, thread) : [])',
        replace: '(thread.load.runs < 0 ? withdrawFrom(deps, thread) : [])',
      },
    ],
  },
  {
    name: 'relieved-runs-return-to-the-blocked-thread',
    why: 'The blocked thread has the least expected work, so it gets its runs back each time.',
    caughtBy: [runnerTest('dispatch'), runnerTest('dispatch-room')],
    edits: [
      {
        file: dispatch,
        find: 'return !thread.exclusive && !isOverdue(thread, runMonitors)',
        replace: 'return !thread.exclusive',
      },
    ],
  },
  {
    name: 'withdrawn-run-counts-as-begun',
    why: 'A drain does not release runs that were started ahead: they end as crashed.',
    caughtBy: [runnerTest('dispatch'), runnerTest('dispatch-room')],
    edits: [{ file: follow, find: '  deps.heldRuns.notBegun(one.run)\n', replace: '' }],
  },
  {
    name: 'waiting-run-fails-with-the-cut',
    why: 'A run that has not begun ends as crashed, because its replica is cut off from the database.',
    caughtBy: [runnerTest('dispatch'), runnerTest('dispatch-room')],
    edits: [
      {
        file: follow,
        find: "if (reason === 'cancelled' || reason === 'lease lost') recordRun",
        replace: 'if (reason !== undefined) recordRun',
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
        find: "goal: 'AVAILABLE', refundAttempt: true,",
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
        find: 'if (command.fenced && isPastFenceDeadline(slot)) tryDecline(deps.ring, command.seq)',
        replace:
          'if (command.fenced && isPastFenceDeadline(slot) && command.seq < 0) tryDecline(deps.ring, command.seq)',
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
        find: 'else if (tryBegin(deps.ring, command.seq)) await execute(command)\n',
        replace: 'else if (tryBegin(deps.ring, command.seq)) await execute(command)\n      else continue\n',
      },
    ],
  },
]
