/** Reports to the destinations that ask for alerts that heartbeats of a worker failed several times in a row. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface HeartbeatAlert {
  readonly workerId: string
  readonly atMs: number
  readonly error: string
  readonly consecutiveFailures: number
}

const errorMax = 1_000

/** An alert that was reported already is not reported again. */
export async function reportAlert(db: Db, alert: HeartbeatAlert): Promise<void> {
  const { workerId, atMs, error, consecutiveFailures } = alert
  const payload = {
    worker_id: workerId,
    timestamp: Math.round(atMs),
    error: error.slice(0, errorMax),
    consecutive_failures: consecutiveFailures,
  }
  await sql`
INSERT INTO q.delivery (destination, news, subject, payload)
SELECT d.name, 'alert', ${`replica/${workerId}/alert/${Math.round(atMs)}`}, ${JSON.stringify(payload)}::jsonb
FROM q.destination d WHERE 'alert' = ANY(d.news)
ON CONFLICT (destination, subject) DO NOTHING`.execute(db)
}
