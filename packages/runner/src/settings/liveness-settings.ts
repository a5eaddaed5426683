/** Settings of heartbeats, of the silence after which others act, and of the limits of runs. */
import type { Thresholds } from '@q/store'
import { presenceGraceMsMin } from '../main/liveness/self-fence-limits.ts'
import type { Preset } from './presets.ts'
import { boolean, integer, limit, oneOf, threshold, type SettingsOf } from './setting-parsers.ts'

export interface LivenessValues extends Thresholds {
  readonly presenceGraceMs: number
  readonly onCrash: 'fail' | 'retry'
  /** Limits of runs where neither run nor task sets one; null: none. */
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** How long a run may wait while no live replica can serve it, before it fails; null: forever. */
  readonly unroutableMs: number | null
  readonly autoRequeueStaleClaimed: boolean
  readonly autoFailStaleRunning: boolean
}

const second = 1_000

export const livenessSettings: SettingsOf<LivenessValues> = {
  replicaBeatMs: threshold('Q_REPLICA_BEAT_MS', 'replicaBeatMs', 'how often the replica sends a heartbeat'),
  replicaStaleMs: threshold(
    'Q_REPLICA_STALE_MS',
    'replicaStaleMs',
    'after this time without a heartbeat of the replica, others recover its runs',
  ),
  checkEveryMs: threshold('Q_CHECK_MS', 'checkEveryMs', 'how often the replica looks for stale runs'),
  claimerBeatMs: threshold(
    'Q_CLAIMER_BEAT_MS',
    'claimerBeatMs',
    'how often the replica sends heartbeats for runs that it has claimed but not started',
  ),
  claimerStaleMs: threshold(
    'Q_CLAIMER_STALE_MS',
    'claimerStaleMs',
    'after this time without such a heartbeat, others requeue the claimed run',
  ),
  runnerBeatMs: threshold(
    'Q_RUNNER_BEAT_MS',
    'runnerBeatMs',
    'how often the replica sends heartbeats for runs that it executes',
  ),
  runnerStaleMs: threshold(
    'Q_RUNNER_STALE_MS',
    'runnerStaleMs',
    'after this time without such a heartbeat, others recover the run',
  ),
  presenceGraceMs: integer(
    'Q_PRESENCE_GRACE_MS',
    [presenceGraceMsMin, 600 * second],
    2_500,
    'how long others wait after the session of this replica broke before they recover its runs; a heartbeat within this time prevents it',
  ),
  onCrash: {
    ...oneOf(
      'Q_ON_CRASH',
      ['fail', 'retry'] as const,
      'fail',
      'what happens to runs whose replica dies, if their task sets no `onCrash`',
    ),
    otherwise: (preset: Preset) => preset.onCrash,
    shown: 'by preset',
  },
  timeoutMs: limit(
    'Q_TIMEOUT_MS',
    'timeoutMs',
    'maximum duration of one attempt, if neither the run nor its task sets one; 0: no limit',
  ),
  maxSilentMs: limit(
    'Q_MAX_SILENT_MS',
    'maxSilentMs',
    'maximum time without a heartbeat, progress or log line of the code, if neither the run nor its task sets one; 0: no limit, but the replica stops code without any evidence of life (`docs/failure-modes.md`)',
  ),
  unroutableMs: limit(
    'Q_UNROUTABLE_MS',
    'unroutableMs',
    'how long a run may wait while no live replica can serve it, before it ends FAILED `UNROUTABLE`; 0: forever',
  ),
  autoRequeueStaleClaimed: boolean(
    'Q_AUTO_REQUEUE_STALE_CLAIMED',
    'whether this replica requeues stale claimed runs; off: it does not change them',
  ),
  autoFailStaleRunning: boolean(
    'Q_AUTO_FAIL_STALE_RUNNING',
    'whether this replica recovers stale running runs; off: it does not change them',
  ),
}
