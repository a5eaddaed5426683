/** Lists duties whose holder is dead while the lease has not expired: until then, no replica does that work. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { isAlive } from '../replicas/alive.ts'

export interface DeadDuty {
  readonly duty: string
  readonly holder: string
  readonly endsInMs: number
}

export async function dutiesOfDead(db: Db): Promise<DeadDuty[]> {
  const { rows } = await sql<DeadDuty>`
SELECT d.name AS duty, d.holder, (extract(epoch FROM d.until - clock_timestamp()) * 1000)::float8 AS "endsInMs"
FROM q.duty d WHERE d.until > clock_timestamp() AND NOT EXISTS (
  SELECT FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id WHERE n.id = d.holder AND ${isAlive})
ORDER BY d.name`.execute(db)
  return rows
}
