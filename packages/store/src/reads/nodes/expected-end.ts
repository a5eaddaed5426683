/**
 * Estimates when a run will end, from the progress its code reported last. There is no estimate below 10 % progress,
 * and none for a run that continues from the checkpoint of an earlier claim, because it began with progress that it did
 * not make. A run whose cancel was requested has none either: its node stops it. In this fragment `r` is a row of
 * q.task_run and `beat` its runner heartbeat, if it has one.
 */
import { sql, type RawBuilder } from 'kysely'

/** Null: unknown. Never in the past: a run that exceeds its estimate counts as about to end. */
export const expectedEnd: RawBuilder<Date | null> = sql<Date | null>`
  (CASE WHEN beat.progress >= 0.1 AND r.started_at IS NOT NULL AND r.cancel_requested_at IS NULL AND (r.checkpoint IS NULL
      OR NOT EXISTS (SELECT FROM q.task_attempt earlier WHERE earlier.run_id = r.id AND earlier.fence < r.fence))
    THEN greatest(clock_timestamp(), r.started_at + (beat.sent_at - r.started_at) / beat.progress) END)`
