/** Settings of what a replica executes, how many runs at once, and how it starts and ends. */
import { availableParallelism, hostname } from 'node:os'
import { presets } from './presets.ts'
import { integer, list, names, oneOf, string, weights, type SettingsOf } from './setting-parsers.ts'

export interface ExecutionValues {
  readonly presetName: string
  /** Files or globs of task modules; empty: the demo tasks. */
  readonly taskModules: readonly string[]
  /** Runs executed at once: one per thread. */
  readonly threads: number
  /** Heap limit of each thread; 0: the default of Node. */
  readonly threadMemoryMb: number
  /** Variables that child processes get in addition to the default ones. */
  readonly childEnv: readonly string[]
  readonly prefetch: number
  /** Start-ahead: expected work in ms, and most runs, of one thread. */
  readonly startAheadMs: number
  readonly startAheadRetryMax: number
  readonly startAheadFailMax: number
  /** Queues to work on, with their shares; empty: all. */
  readonly queueWeights: Readonly<Record<string, number>>
  readonly capabilities: readonly string[]
  readonly name: string
  /** Below the 30 s after which orchestrators kill. */
  readonly drainMs: number
  readonly stopGraceMs: number
  readonly pollEveryMs: number
  readonly connections: number
  /** How long a start waits for a database that does not answer yet. */
  readonly databaseWaitMs: number
}

const second = 1_000
const day = 86_400 * second

export const executionSettings: SettingsOf<ExecutionValues> = {
  presetName: oneOf('Q_PRESET', Object.keys(presets), 'default', 'intervals and thresholds, see below'),
  taskModules: list(
    'Q_TASKS',
    'the demo tasks',
    'task modules: files or globs, separated by commas, relative to the directory of the command',
  ),
  threads: {
    ...integer('Q_THREADS', [1, 1_024], availableParallelism(), 'number of runs executed at once, 1 to 1024'),
    shown: 'available cores (affinity and cgroup quotas count)',
  },
  threadMemoryMb: integer(
    'Q_THREAD_MEMORY_MB',
    [0, 1_048_576],
    0,
    'heap limit of each worker thread; 0: the default of Node. Most out-of-memory errors end the whole process (`docs/reference/poison.md`)',
  ),
  childEnv: list(
    'Q_CHILD_ENV',
    'the default ones',
    'environment variables for tasks with `isolation: process`, in addition to PATH, HOME, LANG, TZ and similar ones, separated by commas; `S3_*` means all with that prefix',
  ),
  prefetch: integer(
    'Q_PREFETCH',
    [0, 64],
    0,
    'number of runs claimed ahead of a free slot; they wait on this replica even if another one is idle',
  ),
  startAheadMs: integer(
    'Q_START_AHEAD_MS',
    [0, 10_000],
    25,
    'expected duration of the runs that a thread gets together while there is a backlog; 0: one run at a time',
  ),
  startAheadRetryMax: integer(
    'Q_START_AHEAD_RETRY_MAX',
    [1, 500],
    256,
    "maximum number of runs that a thread gets together, of tasks with onCrash 'retry'; they start again if the process dies",
  ),
  startAheadFailMax: integer(
    'Q_START_AHEAD_FAIL_MAX',
    [1, 500],
    32,
    'maximum number of runs that a thread gets together, of other tasks; they fail if the process dies, even if they have not begun',
  ),
  queueWeights: weights(
    'Q_QUEUES',
    'all',
    'queues to work on, separated by commas; `cpu:3,default:1` gives the first three shares of four while both have work. A weight is 1 to 1000, by default 1; a name that ends in a colon and digits needs one',
  ),
  capabilities: names(
    'Q_CAPABILITIES',
    'none',
    'capabilities of this replica (`gpu`) for runs that require them, separated by commas',
  ),
  name: {
    ...string('Q_NAME', hostname(), "the replica's name for people, made unique among live replicas"),
    shown: 'host name',
  },
  drainMs: integer(
    'Q_DRAIN_MS',
    [0, day],
    25 * second,
    'how long runs may take to finish after SIGTERM before the replica stops them; an ordered drain has the deadline of its order, or none',
  ),
  stopGraceMs: integer(
    'Q_STOP_GRACE_MS',
    [0, 600 * second],
    2 * second,
    'how long code may take to stop after a stop request before the replica terminates its thread',
  ),
  pollEveryMs: integer(
    'Q_POLL_MS',
    [50, 60 * second],
    second,
    'how often to poll for work; the interval grows up to 10 s while wakes can arrive and there is no work',
  ),
  connections: integer(
    'Q_CONNECTIONS',
    [1, 100],
    4,
    'connections for outcomes, logs and maintenance, in addition to two for exchanges (claims and successes), one for heartbeats and one session',
  ),
  databaseWaitMs: integer(
    'Q_DATABASE_WAIT_MS',
    [0, 3_600 * second],
    30 * second,
    'how long a start waits for a database that does not answer yet, or that breaks its connections; 0: not at all',
  ),
}
