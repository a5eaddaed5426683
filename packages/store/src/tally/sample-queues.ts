/**
 * Samples the length of each queue, by the same bounded counts that people see (reads/queues/). The cost depends on the
 * number of lanes and groups, not on the backlog. Empty queues get a row too, so a gap in the samples means that no
 * replica took any.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { bounded, sumOf } from '../reads/bounded.ts'
import { laneCounts } from '../reads/queues/lane-counts.ts'
import { waitingCounts } from '../reads/queues/waiting-counts.ts'

/** The most queues that are sampled. */
const queuesMax = 1_000

/** Returns the number of sampled queues. */
export async function sampleQueues(db: Db): Promise<number> {
  const lanes = Map.groupBy(await laneCounts(db), (lane) => lane.queue)
  const waiting = await waitingCounts(db)
  const samples = [...lanes].slice(0, queuesMax).map(([queue, own]) => {
    const ready = sumOf(own.map((lane) => bounded(lane.ready, lane.bound)))
    const ages = own.flatMap(({ oldestMs }) => oldestMs ?? [])
    const { time, concurrency } = waiting.of(queue)
    return {
      queue,
      ready: ready.count,
      claimed: own.reduce((sum, lane) => sum + lane.claimed, 0),
      running: own.reduce((sum, lane) => sum + lane.running, 0),
      waiting_time: time.count,
      waiting_concurrency: concurrency.count,
      oldest_ms: ages.length === 0 ? null : Math.round(Math.max(...ages)),
      at_least: ready.atLeast || time.atLeast || concurrency.atLeast,
    }
  })
  await sql`
INSERT INTO q.queue_sample (sampled_at, queue, ready, claimed, running, waiting_time, waiting_concurrency, oldest_ms, at_least, paused)
SELECT statement_timestamp(), s.*, EXISTS (SELECT FROM q.queue WHERE queue.name = s.queue AND queue.paused_at IS NOT NULL)
FROM jsonb_to_recordset(${JSON.stringify(samples)}::jsonb) AS s(queue text, ready int, claimed int, running int, waiting_time int,
  waiting_concurrency int, oldest_ms bigint, at_least boolean)
ON CONFLICT DO NOTHING`.execute(db)
  return samples.length
}
