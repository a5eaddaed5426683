/** What the database says, looked at from outside. */
import { setTimeout as passing } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Connection } from '@q/store'

type Db = Connection['db'] extends Kysely<infer DB> ? Kysely<DB> : never

export interface Held {
  readonly running: number
  readonly claimed: number
}

export async function heldBy(db: Db, replicaId: string): Promise<Held> {
  const { rows } = await sql<Held>`
    SELECT count(*) FILTER (WHERE status = 'RUNNING')::int AS running, count(*) FILTER (WHERE status = 'CLAIMED')::int AS claimed
    FROM q.task_run WHERE held AND replica_id = ${replicaId}`.execute(db)
  return rows[0] ?? { running: 0, claimed: 0 }
}

/** Who has the duty to watch over presence. */
export async function watcherId(db: Db): Promise<string | undefined> {
  const duty = await db.selectFrom('q.duty').select('holder').where('name', '=', 'presence').executeTakeFirst()
  return duty?.holder
}

/** What became of the runs of a dead replica, in short. */
export async function recoveriesOf(db: Db, replicaId: string): Promise<string> {
  const { rows } = await sql<{ was: string; became: string; cause: string; count: number }>`
    SELECT was::text, became::text, cause, count(*)::int FROM q.recovery WHERE replica_id = ${replicaId}
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`.execute(db)
  return rows.map(({ was, became, cause, count }) => `${count} ${was}→${became} (${cause})`).join(', ')
}

export function summary(tookMs: readonly number[]): string {
  const sorted = tookMs.toSorted((a, b) => a - b)
  const p50 = sorted[Math.floor(sorted.length / 2)] ?? 0
  return `p50 ${Math.round(p50)} ms, max ${Math.round(sorted.at(-1) ?? 0)} ms`
}

const lookEveryMs = 10
const patienceMs = 180_000

export async function until(there: () => Promise<boolean>, what: string): Promise<void> {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await passing(lookEveryMs)) {
    if (await there()) return
  }
  throw new Error(`never happened: ${what}`)
}
