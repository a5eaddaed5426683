/**
 * When the code of an attempt really began. `started_at` is the commit of RUNNING; a run that was started ahead begins
 * later, and its holder reports at the end how long the code ran. Without a report the commit counts. A report cannot
 * move the start to before the commit.
 */
import { sql, type RawBuilder } from 'kysely'

export function realStart(startedAt: RawBuilder<unknown>, tookMs: RawBuilder<unknown>): RawBuilder<Date | null> {
  return sql<Date | null>`greatest(${startedAt}, clock_timestamp() - ${tookMs} * interval '1 ms')`
}
