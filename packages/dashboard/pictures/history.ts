/** An hour of figures before those of the fleet, at its pace, so that charts and sparklines have something to draw. */
import type { connect } from '@q/store'

type Db = ReturnType<typeof connect>['db']

interface Past {
  readonly queue: string
  readonly task: string
  readonly perMinute: number
  readonly failedPerMinute?: number
  /** Half of the waits and durations are around these; some are ten times as long. */
  readonly waitMs: number
  readonly durationMs: number
  /** Ready runs: from, to. */
  readonly ready: readonly [number, number]
}

const pasts: readonly Past[] = [
  {
    queue: 'default',
    task: 'render-invoice',
    perMinute: 204,
    failedPerMinute: 2,
    waitMs: 40,
    durationMs: 300,
    ready: [30, 42],
  },
  {
    queue: 'media',
    task: 'transcode-video',
    perMinute: 12,
    failedPerMinute: 1,
    waitMs: 4_000,
    durationMs: 9_000,
    ready: [4, 26],
  },
  { queue: 'ai', task: 'embed-documents', perMinute: 40, waitMs: 1_400, durationMs: 2_800, ready: [60, 12] },
  { queue: 'reports', task: 'nightly-report', perMinute: 9, waitMs: 300, durationMs: 220, ready: [0, 9] },
]
const minutes = 62

export async function writeHistory(db: Db): Promise<void> {
  const now = Math.floor(Date.now() / 60_000) * 60_000
  const wave = (minute: number, phase: number) =>
    1 + 0.12 * Math.sin(minute / 7 + phase) + 0.05 * Math.sin(minute * 1.7 + phase)
  const tally = pasts.flatMap((past, phase) =>
    Array.from({ length: minutes }, (_, minute) => {
      const at = new Date(now - (minutes - minute) * 60_000)
      const succeeded = Math.round(past.perMinute * wave(minute, phase))
      const failed = minute > 40 ? Math.round((past.failedPerMinute ?? 0) * 6 * wave(minute * 3, phase)) : 0
      return {
        bucket_at: at,
        width_s: 60,
        started: succeeded + failed,
        succeeded,
        failed,
        retried: phase === 0 ? Math.round(24 * wave(minute * 2, 1)) : 0,
        busy_ms: succeeded * past.durationMs,
        wait_histogram: histogram(past.waitMs, succeeded),
        duration_histogram: histogram(past.durationMs, succeeded),
        queue: past.queue,
        task: past.task,
      }
    }),
  )
  const samples = pasts.flatMap(({ queue, ready: [from, to], waitMs }, phase) =>
    Array.from({ length: minutes * 4 }, (_, quarter) => ({
      queue,
      sampled_at: new Date(now - (minutes * 4 - quarter) * 15_000),
      ready: Math.max(0, Math.round((from + ((to - from) * quarter) / (minutes * 4)) * wave(quarter, phase))),
      oldest_ms: Math.round(waitMs * 3 * wave(quarter, phase)),
      claimed: 0,
      running: 2,
      waiting_time: 0,
      waiting_concurrency: 0,
    })),
  )
  // The fleet has recorded its first minute.
  await db
    .insertInto('q.run_tally')
    .values(tally)
    .onConflict((minute) => minute.doNothing())
    .execute()
  await db
    .insertInto('q.queue_sample')
    .values(samples)
    .onConflict((look) => look.doNothing())
    .execute()
}

/** Buckets end at powers of the square root of two, as those of the tally do. */
function histogram(typicalMs: number, count: number): number[] {
  const at = Math.round(2 * Math.log2(typicalMs))
  const shares = [0.06, 0.16, 0.28, 0.2, 0.12, 0.08, 0.05, 0.03, 0.02]
  const counts = Array.from({ length: at + shares.length }, () => 0)
  for (const [index, share] of shares.entries()) counts[at - 2 + index] = Math.round(count * share)
  return counts
}
