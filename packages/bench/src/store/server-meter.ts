/**
 * Measures the server's cost: processor time of the one backend that serves the benchmark, and write-ahead log. Both
 * vary less than elapsed time, so designs are compared by them.
 *
 * The backend must be on this machine, a Linux one. All sessions share the WAL: no other session may write, and
 * autovacuum is off. A checkpoint at the start makes the first change of every page a full image, as in production;
 * they are about a third of the log.
 */
import { readFile } from 'node:fs/promises'
import type { DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'

export interface ServerUsage {
  readonly cpuUs: number
  readonly walBytes: number
}

/** `db` must have one connection and no more. */
export async function metered(db: Kysely<DB>, work: () => Promise<void>): Promise<ServerUsage> {
  await sql`CHECKPOINT`.execute(db)
  const before = await look(db)
  await work()
  const after = await look(db)
  if (before.pid !== after.pid) throw new Error('Another backend answered: the connection was lost.')
  return { cpuUs: after.cpuUs - before.cpuUs, walBytes: after.walBytes - before.walBytes }
}

async function look(db: Kysely<DB>): Promise<ServerUsage & { pid: number }> {
  const { rows } = await sql<{ pid: number; wal_bytes: number }>`
    SELECT pg_backend_pid() AS pid, (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal_bytes`.execute(db)
  const { pid, wal_bytes: walBytes } = rows[0]!
  return { pid, walBytes, cpuUs: await cpuUsOf(pid) }
}

/** User and kernel, in nanoseconds; the ticks of `stat` are 10 ms long. */
async function cpuUsOf(pid: number): Promise<number> {
  const [onCpuNs] = (await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')
  return Number(onCpuNs) / 1000
}
