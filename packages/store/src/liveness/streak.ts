/**
 * The shared streak: heartbeats that the server accepted without a gap, whichever replica sent them (`q.beat_streak`).
 *
 * A reaper may apply a threshold once the server has accepted heartbeats for that long. Its own heartbeats show this,
 * and so do those of other replicas, which survive its restart. A gap, a restart of the server or a clock that stepped
 * back begins the count again. How long a gap may be depends on the holder: its interval, one retry and the gap
 * together must stay below its threshold, and a gap longer than one interval and one retry need not be allowed. So the
 * row keeps a separate count for each longest gap of 1, 2, 4, … seconds.
 *
 * A heartbeat never waits for the row: a writer that does not get the lock at once leaves the row to the next writer.
 */
import { sql, type RawBuilder } from 'kysely'

/** The number of counts; the last one allows gaps of 2^11 s. */
const gapClasses = 12
const writeEveryMs = 500
/** Two heartbeats may be written in reverse order, this far apart. */
const disorderMs = 1_000
/** The longest time until a live replica retries a failed heartbeat. */
const retryMsMax = 5_000
const streakLock = 0x71_73_74_72

const clock = sql`clock_timestamp()`
const ms = (value: number) => sql`${value}::float8 * interval '1 ms'`
const gapOf = (k: RawBuilder<unknown>) => sql`interval '1 s' * power(2, ${k} - 1)`

/** Records the heartbeat that the CTE `beat` of the same statement has written. */
export const noteBeat: RawBuilder<unknown> = sql`
  INSERT INTO q.beat_streak AS streak (server_start, last_beat, good_since)
  SELECT pg_postmaster_start_time(), last_heartbeat, array_fill(last_heartbeat, ARRAY[${gapClasses}::int]) FROM beat
  WHERE CASE WHEN EXISTS (SELECT FROM q.beat_streak WHERE server_start = pg_postmaster_start_time()
      AND last_beat BETWEEN ${clock} - ${ms(writeEveryMs)} AND ${clock} + ${ms(disorderMs)})
    THEN false ELSE pg_try_advisory_xact_lock(${streakLock}) END
  ON CONFLICT (one) DO UPDATE SET server_start = excluded.server_start, last_beat = excluded.last_beat,
    good_since = CASE
      WHEN streak.server_start = excluded.server_start AND streak.last_beat <= excluded.last_beat + ${ms(disorderMs)}
      THEN (SELECT array_agg(CASE WHEN excluded.last_beat - streak.last_beat > ${gapOf(sql`k`)}
        THEN excluded.last_beat ELSE streak.good_since[k] END ORDER BY k) FROM generate_series(1, ${gapClasses}::int) k)
      ELSE excluded.good_since END`

/**
 * Whether heartbeats have been accepted for the whole threshold, without a gap so long that a live holder could look
 * stale.
 */
export function isStreakLongEnough(thresholdMs: RawBuilder<unknown>, beatMs: RawBuilder<unknown>): RawBuilder<boolean> {
  const retryMs = sql`least(${beatMs}, ${retryMsMax})`
  const safeMs = sql`greatest(${thresholdMs} - ${beatMs} - ${retryMs}, 1)`
  const usualMs = sql`greatest(${beatMs} + ${retryMs}, 1)`
  const log2 = (lengthMs: RawBuilder<unknown>) => sql`log(2, (${lengthMs} / 1000.0)::numeric)`
  const k = sql`least(floor(${log2(safeMs)}), ceil(${log2(usualMs)}), ${gapClasses - 1}::int)::int + 1`
  return sql<boolean>`coalesce((SELECT good_since[${k}] <= ${clock} - ${thresholdMs} * interval '1 ms'
      AND last_beat BETWEEN ${clock} - ${gapOf(k)} AND ${clock} + ${ms(disorderMs)}
    FROM q.beat_streak WHERE server_start = pg_postmaster_start_time()), false)`
}
