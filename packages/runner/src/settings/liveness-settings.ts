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
  presenceGraceMs: integer(
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
  autoRequeueStaleClaimed: boolean(
    'Q_AUTO_REQUEUE_STALE_CLAIMED',
    'whether stale claims are undone; off: they stay as they are',
  ),
  autoFailStaleRunning: boolean(
    'Q_AUTO_FAIL_STALE_RUNNING',
    'whether stale running runs are recovered; off: they stay as they are',
  ),
}
