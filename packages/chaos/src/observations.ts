/** Queries that observe a scenario in the database. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Connection } from '@q/store'

type Db = Connection['db'] extends Kysely<infer DB> ? Kysely<DB> : never

/** Returns the replica that has the duty to watch presence. */
export function watcherId(db: Db): Promise<string | undefined> {
  return dutyHolder(db, 'presence')
}

export interface Tick {
  readonly tick: Date
  readonly runId: string
  readonly status: string
  /** Time from the tick until its run was enqueued. */
  readonly lateMs: number
}

/** The runs that a schedule has enqueued, by time. */
export async function ticksOf(db: Db, schedule: string): Promise<Tick[]> {
  const { rows } = await sql<Tick>`
    SELECT t.tick, r.id AS "runId", r.status::text, extract(epoch FROM r.created_at - t.tick)::float8 * 1000 AS "lateMs"
    FROM q.schedule_tick t JOIN q.task_run r ON r.id = t.run_id WHERE t.schedule = ${schedule} ORDER BY t.tick`.execute(
    db,
  )
  return rows
}

/** The replica that currently has a duty. */
export async function dutyHolder(db: Db, name: string): Promise<string | undefined> {
  const duty = await db.selectFrom('q.duty').select('holder').where('name', '=', name).executeTakeFirst()
  return duty?.holder
}

/** A summary of the outcomes of a dead replica's runs. */
export async function recoveriesOf(db: Db, replicaId: string): Promise<string> {
  const { rows } = await sql<{ was: string; became: string; cause: string; count: number }>`
    SELECT was::text, became::text, cause, count(*)::int FROM q.recovery WHERE replica_id = ${replicaId}
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`.execute(db)
  return rows.map(({ was, became, cause, count }) => `${count} ${was}→${became} (${cause})`).join(', ')
}

interface Spread {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export function spread(tookMs: readonly number[]): Spread {
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

export function summary(tookMs: readonly number[]): string {
  const { p50, p99, max } = spread(tookMs)
  return `p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, max ${Math.round(max)} ms`
}

const lookEveryMs = 10
const patienceMs = 180_000

export async function until(there: () => Promise<boolean>, what: string): Promise<void> {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(lookEveryMs)) {
    if (await there()) return
  }
  throw new Error(`never happened: ${what}`)
}
