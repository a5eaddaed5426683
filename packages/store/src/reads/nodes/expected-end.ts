/**
 * When a run is expected to end, from the progress its code reported last. Before a tenth the estimate is worth nothing.
 * In this fragment `r` is a row of q.task_run and `beat` its runner heartbeat, if it has one.
 */
import { sql, type RawBuilder } from 'kysely'

/** Null: unknown. Never in the past: a run that is later than expected is about to end. */
export const expectedEnd: RawBuilder<Date | null> = sql<Date | null>`
  (CASE WHEN beat.progress >= 0.1 AND r.started_at IS NOT NULL
    THEN greatest(clock_timestamp(), r.started_at + (beat.sent_at - r.started_at) / beat.progress) END)`
