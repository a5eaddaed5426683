/**
 * THE settings, as data: what each is called, what it means, what it may be. config.ts reads the environment by this
 * table, and docs/reference/configuration.md is made from it.
 */
import { availableParallelism, hostname } from 'node:os'
import type { Thresholds } from '@q/store'
import { presenceGraceMsMin } from './main/fence-bound.ts'
import { presets, type Preset } from './presets.ts'
import { flag, limit, list, names, oneOf, text, threshold, weights, whole, type Setting } from './setting-kinds.ts'

export interface Values extends Thresholds {
  readonly presetName: string
  /** Files or globs of task modules; empty: the demo tasks. */
  readonly taskModules: readonly string[]
  /** Runs executed at once: one per thread. */
  readonly threads: number
  /** Heap of each; 0: what Node allows. */
  readonly threadMemoryMb: number
  /** Variables that child processes get beside the harmless ones. */
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
  /** Of a start, for a database that does not answer yet. */
  readonly databaseWaitMs: number
  readonly presenceGraceMs: number
  readonly onCrash: 'fail' | 'retry'
  /** Limits of runs where neither run nor task sets one; null: none. */
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** How long a run may wait while no live replica can serve it, before it fails; null: forever. */
  readonly unroutableMs: number | null
  readonly autoRequeueStaleClaimed: boolean
  readonly autoFailStaleRunning: boolean
  readonly heartbeatsKeptMs: number
  readonly replicasKeptMs: number
  readonly runsKeptMs: number
  readonly sampleEveryMs: number
  readonly samplesKeptMs: number
  readonly degradedCpu: number
  readonly unhealthyCpu: number
  readonly degradedMb: number
  readonly unhealthyMb: number
  readonly logLevel: string
}

const second = 1_000
const day = 86_400 * second
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export const settings: { readonly [Key in keyof Values]: Setting<Values[Key]> } = {
  presetName: oneOf('Q_PRESET', Object.keys(presets), 'default', 'intervals and thresholds, see below'),
  taskModules: list(
    'Q_TASKS',
    'the demo tasks',
    'task modules: files or globs, separated by commas, relative to where the command is given',
  ),
  threads: {
    ...whole('Q_THREADS', [1, 1_024], availableParallelism(), 'runs executed at once, 1 to 1024'),
    shown: 'available cores (affinity and cgroup quotas count)',
  },
  threadMemoryMb: whole(
    'Q_THREAD_MEMORY_MB',
    [0, 1_048_576],
    0,
    'heap of each worker thread; 0: what Node allows. Most ways to exceed it end the whole process (`docs/reference/poison.md`)',
  ),
  childEnv: list(
    'Q_CHILD_ENV',
    'the harmless ones',
    'environment variables that tasks with `isolation: process` get beside PATH, HOME, LANG, TZ and their like, separated by commas; `S3_*` names all that begin so',
  ),
  prefetch: whole(
    'Q_PREFETCH',
    [0, 64],
    0,
    'runs claimed ahead of a free slot; they wait here while other replicas may be free',
  ),
  startAheadMs: whole(
    'Q_START_AHEAD_MS',
    [0, 10_000],
    25,
    'expected work that is handed to a thread ahead, while there is a backlog; 0: one run at a time',
  ),
  startAheadRetryMax: whole(
    'Q_START_AHEAD_RETRY_MAX',
    [1, 500],
    256,
    "most runs handed to one thread, of tasks with onCrash 'retry'; they are started again if the process dies",
  ),
  startAheadFailMax: whole(
    'Q_START_AHEAD_FAIL_MAX',
    [1, 500],
    32,
    'most runs handed to one thread, of other tasks; those that have not begun fail if the process dies',
  ),
  queueWeights: weights(
    'Q_QUEUES',
    'all',
    'queues to work on, separated by commas; `cpu:3,default:1` gives the first three shares of four while both have work. A weight is 1 to 1000, and 1 unless said; a name that ends in a colon and digits needs one',
  ),
  capabilities: names(
    'Q_CAPABILITIES',
    'none',
    'what this replica can do beyond the ordinary (`gpu`), for runs that require it, separated by commas',
  ),
  name: {
    ...text('Q_NAME', hostname(), "the replica's name for people, made unique among living replicas"),
    shown: 'host name',
  },
  drainMs: whole(
    'Q_DRAIN_MS',
    [0, day],
    25 * second,
    'how long runs may take to finish after SIGTERM before they are stopped; an ordered drain has the deadline of its order, or none',
  ),
  stopGraceMs: whole(
    'Q_STOP_GRACE_MS',
    [0, 600 * second],
    2 * second,
    'how long code that is told to stop may take before its thread is ended',
  ),
  pollEveryMs: whole(
    'Q_POLL_MS',
    [50, 60 * second],
    second,
    'how often to look for work when no wake comes; up to 10 s while wakes can arrive and there is nothing to do',
  ),
  connections: whole(
    'Q_CONNECTIONS',
    [1, 100],
    4,
    'connections for outcomes, logs and upkeep, beside one for turns (claims and successes), one for beats and one session',
  ),
  databaseWaitMs: whole(
    'Q_DATABASE_WAIT_MS',
    [0, 3_600 * second],
    30 * second,
    'how long a start waits for a database that does not answer yet, or that breaks its connections; 0: not at all',
  ),

  replicaBeatMs: threshold('Q_REPLICA_BEAT_MS', 'replicaBeatMs', 'how often the replica beats'),
  replicaStaleMs: threshold(
    'Q_REPLICA_STALE_MS',
    'replicaStaleMs',
    'without a beat for so long, its runs are recovered by others',
  ),
  checkEveryMs: threshold('Q_CHECK_MS', 'checkEveryMs', 'how often stale runs are looked for'),
  claimerBeatMs: threshold(
    'Q_CLAIMER_BEAT_MS',
    'claimerBeatMs',
    'how often it beats for runs it has claimed and not started',
  ),
  claimerStaleMs: threshold(
    'Q_CLAIMER_STALE_MS',
    'claimerStaleMs',
    'without such a beat for so long, the claim is undone by others',
  ),
  runnerBeatMs: threshold('Q_RUNNER_BEAT_MS', 'runnerBeatMs', 'how often it beats for runs it executes'),
  runnerStaleMs: threshold(
    'Q_RUNNER_STALE_MS',
    'runnerStaleMs',
    'without such a beat for so long, the run is recovered by others',
  ),
  presenceGraceMs: whole(
    'Q_PRESENCE_GRACE_MS',
    [presenceGraceMsMin, 600 * second],
    2_500,
    'how long after its session broke this replica may still show that it lives; others wait for so long before they recover its runs',
  ),
  onCrash: {
    ...oneOf(
      'Q_ON_CRASH',
      ['fail', 'retry'] as const,
      'fail',
      'what becomes of runs whose replica dies, when their task says nothing',
    ),
    otherwise: (preset: Preset) => preset.onCrash,
    shown: 'by preset',
  },
  timeoutMs: limit(
    'Q_TIMEOUT_MS',
    'timeoutMs',
    'longest time of one attempt, when neither the run nor its task sets one; 0: no limit',
  ),
  maxSilentMs: limit(
    'Q_MAX_SILENT_MS',
    'maxSilentMs',
    'longest time without a heartbeat, progress or log line of the code, when neither the run nor its task sets one; 0: no limit, and code without any evidence of life is stopped (`docs/failure-modes.md`)',
  ),
  unroutableMs: limit(
    'Q_UNROUTABLE_MS',
    'unroutableMs',
    'how long a run may wait while no live replica can serve it, before it ends FAILED `UNROUTABLE`; 0: forever',
  ),
  autoRequeueStaleClaimed: flag(
    'Q_AUTO_REQUEUE_STALE_CLAIMED',
    'whether stale claims are undone; off: they stay as they are',
  ),
  autoFailStaleRunning: flag(
    'Q_AUTO_FAIL_STALE_RUNNING',
    'whether stale running runs are recovered; off: they stay as they are',
  ),

  heartbeatsKeptMs: {
    ...whole(
      'Q_HEARTBEATS_KEPT_MS',
      [second, 365 * day],
      3_600 * second,
      'how long heartbeats of replicas that are gone are kept',
    ),
    otherwise: (preset: Preset) => preset.heartbeatsKeptMs,
    shown: 'by preset',
  },
  replicasKeptMs: whole(
    'Q_REPLICAS_KEPT_MS',
    [second, 3_650 * day],
    day,
    'how long replicas are remembered after their end',
  ),
  runsKeptMs: whole(
    'Q_RUNS_KEPT_MS',
    [second, 3_650 * day],
    7 * day,
    'how long finished runs are kept when their task does not say (`keep`)',
  ),
  sampleEveryMs: whole('Q_SAMPLE_MS', [second, day], 60 * second, 'how often vitals go into the time series'),
  samplesKeptMs: whole(
    'Q_SAMPLES_KEPT_MS',
    [second, 3_650 * day],
    day,
    'how long the time series and failed heartbeats are kept',
  ),

  degradedCpu: whole(
    'Q_DEGRADED_CPU',
    [1, 1_000],
    70,
    'CPU, in percent, that its runs do not account for, above which it fills half of its slots',
  ),
  unhealthyCpu: whole('Q_UNHEALTHY_CPU', [1, 1_000], 90, 'the same, above which it claims nothing'),
  degradedMb: whole(
    'Q_DEGRADED_MB',
    [1, 100_000_000],
    4_096,
    'memory, with that of child processes, above which it fills half of its slots; at most 70 % of what its container has',
  ),
  unhealthyMb: whole(
    'Q_UNHEALTHY_MB',
    [1, 100_000_000],
    8_192,
    'the same, above which it claims nothing; at most 90 %',
  ),

  logLevel: oneOf('Q_LOG_LEVEL', logLevels, 'info', logLevels.map((level) => `\`${level}\``).join(', ')),
}

/** Read by programs, not by a runner that is embedded into another. */
export const programSettings: readonly Pick<Setting<unknown>, 'variable' | 'shown' | 'what'>[] = [
  {
    variable: 'DATABASE_URL',
    shown: 'an embedded PostgreSQL',
    what: 'the database, `postgresql://user:password@host:5432/database`; an empty value is refused',
  },
  {
    variable: 'DATABASE_URL_DIRECT',
    shown: '`DATABASE_URL`',
    what: 'used for migrations, presence and LISTEN, where `DATABASE_URL` leads through a pooler',
  },
  {
    variable: 'Q_DATA_DIR',
    shown: '`.q/postgres` in the workspace',
    what: 'where the embedded PostgreSQL keeps its data',
  },
  { variable: 'Q_DEBUG', shown: '', what: '`1` adds stack traces to errors' },
]
