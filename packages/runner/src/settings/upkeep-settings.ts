/** Settings of retention, health and the log. */
import type { Preset } from './presets.ts'
import { integer, oneOf, path, type SettingsOf } from './setting-parsers.ts'

export interface UpkeepValues {
  readonly heartbeatsKeptMs: number
  readonly replicasKeptMs: number
  readonly runsKeptMs: number
  readonly deliveriesKeptMs: number
  readonly destinationsFile: string | null
  readonly sampleEveryMs: number
  readonly samplesKeptMs: number
  readonly tallyKeptMs: number
  readonly actionsKeptMs: number
  readonly degradedCpu: number
  readonly unhealthyCpu: number
  readonly degradedMb: number
  readonly unhealthyMb: number
  readonly logLevel: string
}

const second = 1_000
const day = 86_400 * second
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export const upkeepSettings: SettingsOf<UpkeepValues> = {
  heartbeatsKeptMs: {
    ...integer(
      'Q_HEARTBEATS_KEPT_MS',
      [second, 365 * day],
      3_600 * second,
      'how long q keeps heartbeats of dead replicas',
    ),
    otherwise: (preset: Preset) => preset.heartbeatsKeptMs,
    shown: 'by preset',
  },
  replicasKeptMs: integer(
    'Q_REPLICAS_KEPT_MS',
    [second, 3_650 * day],
    day,
    'how long q keeps rows of stopped replicas',
  ),
  runsKeptMs: integer(
    'Q_RUNS_KEPT_MS',
    [second, 3_650 * day],
    7 * day,
    'how long q keeps finished runs if their task sets no `keep`',
  ),
  deliveriesKeptMs: integer(
    'Q_DELIVERIES_KEPT_MS',
    [60 * second, 3_650 * day],
    7 * day,
    'how long q keeps reports to destinations, delivered or not',
  ),
  destinationsFile: path(
    'Q_DESTINATIONS_FILE',
    'absolute path of a JSON file with destinations; a replica that starts with it creates, changes and removes the destinations that files declare',
  ),
  sampleEveryMs: integer(
    'Q_SAMPLE_MS',
    [second, day],
    60 * second,
    'how often q writes process stats to the time series',
  ),
  samplesKeptMs: integer(
    'Q_SAMPLES_KEPT_MS',
    [second, 3_650 * day],
    day,
    'how long q keeps the time series of nodes and queues, failed heartbeats and gaps between heartbeats',
  ),
  tallyKeptMs: integer(
    'Q_TALLY_KEPT_MS',
    [day, 3_650 * day],
    30 * day,
    'how long q keeps rates per hour, error groups without new errors, and ended operations',
  ),
  actionsKeptMs: integer(
    'Q_ACTIONS_KEPT_MS',
    [day, 3_650 * day],
    90 * day,
    'how long q keeps the actions of people on the page, the API and the command line',
  ),

  degradedCpu: integer(
    'Q_DEGRADED_CPU',
    [1, 1_000],
    70,
    'CPU use in percent, without the CPU time of its runs, above which the replica fills half of its slots',
  ),
  unhealthyCpu: integer('Q_UNHEALTHY_CPU', [1, 1_000], 90, 'CPU use above which the replica claims nothing'),
  degradedMb: integer(
    'Q_DEGRADED_MB',
    [1, 100_000_000],
    4_096,
    'memory, including child processes, above which the replica fills half of its slots; at most 70 % of the memory of its container',
  ),
  unhealthyMb: integer(
    'Q_UNHEALTHY_MB',
    [1, 100_000_000],
    8_192,
    'memory above which the replica claims nothing; at most 90 % of the memory of its container',
  ),

  logLevel: oneOf('Q_LOG_LEVEL', logLevels, 'info', logLevels.map((level) => `\`${level}\``).join(', ')),
}
